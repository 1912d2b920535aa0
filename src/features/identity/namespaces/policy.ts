import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import { NoAccess, Owner } from '../../../lib/levels.ts'
import type { Row } from '../../../store/database.ts'

export interface NamespaceSubject {
  readonly namespace: Row<'namespaces'>
  readonly viewer: User | null
  /** In a group, as a member of it or of one above it, or by a share. */
  readonly level: number
}

const isOwn = ({ namespace, viewer }: NamespaceSubject) => namespace.owner_id === viewer?.id

export const namespacePolicy = policy<NamespaceSubject>()({
  read: (s) => s.viewer !== null && (s.viewer.admin || isOwn(s) || s.level > NoAccess),
  /** How many people a group holds is told to those who decide it. */
  countMembers: (s) => s.namespace.kind === 'group' && s.viewer !== null && (s.viewer.admin || s.level >= Owner),
})
