import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'

export interface UserSubject {
  readonly user: User
  readonly viewer: User | null
  /** Profiles are hidden from visitors while the instance restricts public visibility. */
  readonly hiddenFromVisitors: boolean
}

export const userPolicy = policy<UserSubject>()({
  read: ({ viewer, hiddenFromVisitors }) => viewer !== null || !hiddenFromVisitors,
})
