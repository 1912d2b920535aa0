import { policy } from '../../../api/endpoint.ts'
import { Developer, Guest, Master, Owner, Reporter } from '../../../lib/levels.ts'
import { hasFeature, projectPolicy } from '../../projects/projects/policy.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'

const isOpen = ({ open, project }: RepositorySubject) => open.includes(project.visibility)

/** With public pipelines enabled, everyone who sees the project sees its jobs. */
const seesJobs = (s: RepositorySubject) =>
  s.level >= Reporter || (s.project.public_jobs && (s.level >= Guest || isOpen(s)))

const works = (s: RepositorySubject) => hasFeature(s, 'builds') && s.level >= Developer && !s.project.archived

/** The policy of a project for its pipelines and jobs. */
export const ciPolicy = policy<RepositorySubject>()({
  read: (s) => projectPolicy.read(s),
  readPipelines: (s) => hasFeature(s, 'builds') && (s.project.visibility === 'public' || seesJobs(s)),
  readJobs: (s) => hasFeature(s, 'builds') && seesJobs(s),
  /** On a protected ref, only users who may change the ref. A separate check covers each case. */
  run: works,
  administer: (s) => hasFeature(s, 'builds') && s.level >= Master,
  own: (s) => hasFeature(s, 'builds') && s.level >= Owner,
})
