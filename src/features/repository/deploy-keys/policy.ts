import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import type { EnabledKey } from './model.ts'

export interface DeployKeySubject extends ProjectSubject {
  /** Whoever may not know of keys is refused before it matters that there is none. */
  readonly key: EnabledKey | null
}

export const deployKeyPolicy = policy<DeployKeySubject>()({
  read: (s) => projectPolicy.read(s),
  administer: (s) => projectPolicy.administer(s),
})

/** A public key is everybody's: what it is called is for administrators to say. */
export const mayRename = (viewer: User, key: Row<'keys'>): boolean => viewer.admin || !key.public
