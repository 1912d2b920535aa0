import { policy } from '../../../api/endpoint.ts'
import { Developer, Master, Reporter } from '../../../lib/levels.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'

/** A project whose repository is asked for, with the place where it lies. */
export interface RepositorySubject extends ProjectSubject {
  readonly dir: string
}

const isOpen = ({ open, project }: RepositorySubject) => open.includes(project.visibility)

export const repositoryPolicy = policy<RepositorySubject>()({
  read: (s: RepositorySubject) => projectPolicy.read(s),
  download: (s) => hasFeature(s, 'repository') && (s.level >= Reporter || isOpen(s)),
  push: (s) => hasFeature(s, 'repository') && s.level >= Developer && !s.project.archived,
  /** Perhaps: others than members only to a branch that is shared with them, which is asked once it is known. */
  commit: (s) =>
    hasFeature(s, 'repository') && (s.level >= Developer || (s.viewer !== null && isOpen(s))) && !s.project.archived,
  /** Writes that do not touch code: comments, for whoever reads it. */
  comment: (s) =>
    hasFeature(s, 'repository') && s.viewer !== null && (s.level >= Reporter || isOpen(s)) && !s.project.archived,
  report: (s) => hasFeature(s, 'repository') && s.level >= Developer && !s.project.archived,
  protect: (s) => hasFeature(s, 'repository') && s.level >= Master,
})
