import { policy } from '../../../api/endpoint.ts'
import type { Row } from '../../../store/database.ts'
import { projectPolicy, type ProjectSubject } from '../projects/policy.ts'

/** A share as whoever administers its project meets it; others are not led to it. */
export interface GroupLinkSubject extends ProjectSubject {
  readonly link: Row<'project_shares'>
}

export const groupLinkPolicy = policy<GroupLinkSubject>()({
  read: projectPolicy.administer,
})
