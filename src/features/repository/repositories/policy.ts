import { policy } from '../../../api/endpoint.ts'
import { Developer, Master, Owner, Reporter } from '../../../lib/levels.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'

/** A project with the path of its repository. */
export interface RepositorySubject extends ProjectSubject {
  readonly dir: string
}

const isOpen = ({ open, project }: RepositorySubject) => open.includes(project.visibility)

export const repositoryPolicy = policy<RepositorySubject>()({
  read: (s: RepositorySubject) => projectPolicy.read(s),
  download: (s) => hasFeature(s, 'repository') && (s.level >= Reporter || isOpen(s)),
  push: (s) => hasFeature(s, 'repository') && s.level >= Developer && !s.project.archived,
  /**
   * Only a first check: users who are not members may commit to branches that are shared with them. A later check knows
   * the branch.
   */
  commit: (s) =>
    hasFeature(s, 'repository') && (s.level >= Developer || (s.viewer !== null && isOpen(s))) && !s.project.archived,
  /** Writes that do not change code: comments, for users who may read the code. */
  comment: (s) =>
    hasFeature(s, 'repository') && s.viewer !== null && (s.level >= Reporter || isOpen(s)) && !s.project.archived,
  report: (s) => hasFeature(s, 'repository') && s.level >= Developer && !s.project.archived,
  protect: (s) => hasFeature(s, 'repository') && s.level >= Master,
  /** Deletes what others could still undo. */
  forget: (s) => hasFeature(s, 'repository') && s.level >= Owner,
})
