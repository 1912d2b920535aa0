import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import { isPending } from './model.ts'

export interface UserSubject {
  readonly user: User
  readonly viewer: User | null
  /** Profiles are hidden from visitors while the instance restricts public visibility. */
  readonly hiddenFromVisitors: boolean
}

/** Users who are pending approval are visible to administrators only. */
export const isVisibleTo = (user: User, viewer: User | null): boolean => !isPending(user) || Boolean(viewer?.admin)

export const userPolicy = policy<UserSubject>()({
  read: ({ user, viewer, hiddenFromVisitors }) => isVisibleTo(user, viewer) && (viewer !== null || !hiddenFromVisitors),
})
