import { policy } from '../../../api/endpoint.ts'
import { Developer, FeatureDisabled, FeatureEnabled, Guest, Master } from '../../../lib/levels.ts'
import { projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'

const isOn = ({ project, level }: ProjectSubject) => {
  const { wiki_access_level: feature } = project
  return feature === FeatureEnabled || (feature !== FeatureDisabled && level >= Guest)
}

/** Where the wiki is off, members are refused and others find nothing. */
export const wikiPolicy = policy<ProjectSubject>()({
  read: (s) => projectPolicy.read(s) && (isOn(s) || s.level >= Guest),
  readWiki: isOn,
  write: (s) => isOn(s) && s.level >= Developer && !s.project.archived,
  remove: (s) => isOn(s) && s.level >= Master && !s.project.archived,
})
