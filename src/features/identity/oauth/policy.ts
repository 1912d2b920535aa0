import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'

export interface ApplicationSubject {
  readonly application: Row<'oauth_applications'>
  readonly viewer: User | null
}

export const applicationPolicy = policy<ApplicationSubject>()({
  read: ({ viewer }) => viewer?.admin ?? false,
})
