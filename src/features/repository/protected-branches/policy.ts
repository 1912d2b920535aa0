import { policy } from '../../../api/endpoint.ts'
import { Developer } from '../../../lib/levels.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'

export const protectionPolicy = policy<ProjectSubject>()({
  read: (s) => projectPolicy.read(s),
  /** Whoever reads the code; and whoever makes the rules, even while there is no code to be read. */
  readRules: (s) => projectPolicy.administer(s) || (hasFeature(s, 'repository') && projectPolicy.readCode(s)),
  /** Whoever pushes may know who else does; people, and groups that are hidden, are nobody else's business. */
  readNames: (s) => s.level >= Developer,
  administer: (s) => projectPolicy.administer(s),
})
