import { policy } from '../../../api/endpoint.ts'
import { hasFeature } from '../../projects/projects/policy.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import { ciPolicy } from '../pipelines/policy.ts'

export const lintPolicy = policy<RepositorySubject>()({
  ...ciPolicy,
  readConfiguration: (s) => hasFeature(s, 'builds') && repositoryPolicy.download(s),
})
