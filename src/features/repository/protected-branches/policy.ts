import { policy } from '../../../api/endpoint.ts'
import { Developer } from '../../../lib/levels.ts'
import { projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import type { LoadedRule } from './queries.ts'

export interface ProtectionSubject extends ProjectSubject {
  readonly rule: LoadedRule | null
}

export const protectionPolicy = policy<ProtectionSubject>()({
  read: (s) => projectPolicy.read(s),
  /** Whoever pushes may know what will stop them; who else may push is nobody else's business. */
  readRules: (s) => s.level >= Developer,
  administer: (s) => projectPolicy.administer(s),
})
