import { policy } from '../../../api/endpoint.ts'
import { Developer, FeatureDisabled, FeatureEnabled, Guest, Master, Reporter } from '../../../lib/levels.ts'
import { projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'

/** A project whose repository is asked for, with the place where it lies. */
export interface RepositorySubject extends ProjectSubject {
  readonly dir: string
}

const isOn = ({ project, level }: RepositorySubject) => {
  const { repository_access_level: feature } = project
  return feature === FeatureEnabled || (feature !== FeatureDisabled && level >= Guest)
}
const isOpen = ({ open, project }: RepositorySubject) => open.includes(project.visibility)

export const repositoryPolicy = policy<RepositorySubject>()({
  read: (s: RepositorySubject) => projectPolicy.read(s),
  download: (s) => isOn(s) && (s.level >= Reporter || isOpen(s)),
  push: (s) => isOn(s) && s.level >= Developer && !s.project.archived,
  /** Writes that do not touch code: comments, for whoever reads it. */
  comment: (s) => isOn(s) && s.viewer !== null && (s.level >= Reporter || isOpen(s)) && !s.project.archived,
  report: (s) => isOn(s) && s.level >= Developer && !s.project.archived,
  administer: (s) => s.level >= Master,
})
