import type { Caller } from '../../../api/credentials.ts'
import type { User } from '../../../context.ts'
import { forbidden } from '../../../errors.ts'

/** Nobody sets up for another what lets them in, or keeps them out. */
export function assertOwn(viewer: User, { identity }: Caller): void {
  if (identity?.user.id !== viewer.id) throw forbidden()
}
