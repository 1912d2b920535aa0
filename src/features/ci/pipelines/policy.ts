import { policy } from '../../../api/endpoint.ts'
import { Developer, Guest, Master, Owner, Reporter } from '../../../lib/levels.ts'
import { hasFeature, projectPolicy } from '../../projects/projects/policy.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'

const isOpen = ({ open, project }: RepositorySubject) => open.includes(project.visibility)

/** Whoever sees the project sees its jobs where that is switched on. */
const seesJobs = (s: RepositorySubject) =>
  s.level >= Reporter || (s.project.public_jobs && (s.level >= Guest || isOpen(s)))

const works = (s: RepositorySubject) => hasFeature(s, 'builds') && s.level >= Developer && !s.project.archived

/** A project as its pipelines and jobs are met. */
export const ciPolicy = policy<RepositorySubject>()({
  read: (s) => projectPolicy.read(s),
  readPipelines: (s) => hasFeature(s, 'builds') && (s.project.visibility === 'public' || seesJobs(s)),
  readJobs: (s) => hasFeature(s, 'builds') && seesJobs(s),
  /** On a protected ref those alone who may change it: asked of each. */
  run: works,
  administer: (s) => hasFeature(s, 'builds') && s.level >= Master,
  own: (s) => hasFeature(s, 'builds') && s.level >= Owner,
})
