import { policy } from '../../../api/endpoint.ts'
import { Master, Reporter } from '../../../lib/levels.ts'
import { hasFeature } from '../../projects/projects/policy.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { ciPolicy } from '../pipelines/policy.ts'

export const environmentPolicy = policy<RepositorySubject>()({
  ...ciPolicy,
  readEnvironments: (s) => hasFeature(s, 'builds') && s.level >= Reporter,
  manageEnvironments: (s) => hasFeature(s, 'builds') && s.level >= Master && !s.project.archived,
})
