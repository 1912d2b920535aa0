import { policy } from '../../../api/endpoint.ts'
import { Developer } from '../../../lib/levels.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'

export const protectionPolicy = policy<ProjectSubject>()({
  read: (s) => projectPolicy.read(s),
  /** Users who may read the code. Users who manage the rules may also read them while the code is not readable. */
  readRules: (s) => projectPolicy.administer(s) || (hasFeature(s, 'repository') && projectPolicy.readCode(s)),
  /** Users who may push may see who else may. Others must not see users and hidden groups. */
  readNames: (s) => s.level >= Developer,
  administer: (s) => projectPolicy.administer(s),
})
