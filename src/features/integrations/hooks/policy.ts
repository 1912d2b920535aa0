import { policy } from '../../../api/endpoint.ts'
import type { Row } from '../../../store/database.ts'
import { projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'

export interface HookSubject extends ProjectSubject {
  /** Whoever may not know of hooks is refused before it matters that there is none. */
  readonly hook: Row<'project_hooks'> | null
}

export const hookPolicy = policy<HookSubject>()({
  read: projectPolicy.read,
  administer: projectPolicy.administer,
})
