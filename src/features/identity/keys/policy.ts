import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'

export interface AnyKeySubject {
  readonly key: Row<'keys'>
  readonly viewer: User | null
}

export const anyKeyPolicy = policy<AnyKeySubject>()({
  read: ({ viewer }) => viewer?.admin ?? false,
})
