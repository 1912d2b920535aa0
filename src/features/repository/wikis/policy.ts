import { policy } from '../../../api/endpoint.ts'
import { Developer, Guest, Master } from '../../../lib/levels.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'

const isOn = (s: ProjectSubject) => hasFeature(s, 'wiki')

/** With the wiki disabled, members are refused and others find nothing (404). */
export const wikiPolicy = policy<ProjectSubject>()({
  read: (s) => projectPolicy.read(s) && (isOn(s) || s.level >= Guest),
  readWiki: isOn,
  write: (s) => isOn(s) && s.level >= Developer && !s.project.archived,
  remove: (s) => isOn(s) && s.level >= Master && !s.project.archived,
})
