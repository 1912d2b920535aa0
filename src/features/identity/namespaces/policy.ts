import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'

export interface NamespaceSubject {
  readonly namespace: Row<'namespaces'>
  readonly viewer: User | null
}

export const namespacePolicy = policy<NamespaceSubject>()({
  read: ({ namespace, viewer }) => viewer !== null && (viewer.admin || namespace.owner_id === viewer.id),
})
