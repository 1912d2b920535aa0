import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import { NoAccess, Owner } from '../../../lib/levels.ts'
import type { Row } from '../../../store/database.ts'

export interface NamespaceSubject {
  readonly namespace: Row<'namespaces'>
  readonly viewer: User | null
  /** The viewer's level in a group: from a membership in it or in an ancestor, or from a share. */
  readonly level: number
}

const isOwn = ({ namespace, viewer }: NamespaceSubject) => namespace.owner_id === viewer?.id

export const namespacePolicy = policy<NamespaceSubject>()({
  read: (s) => s.viewer !== null && (s.viewer.admin || isOwn(s) || s.level > NoAccess),
  /** Only users who manage the group see its number of members. */
  countMembers: (s) => s.namespace.kind === 'group' && s.viewer !== null && (s.viewer.admin || s.level >= Owner),
})
