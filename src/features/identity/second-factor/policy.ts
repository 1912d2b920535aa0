import type { Caller } from '../../../api/credentials.ts'
import type { User } from '../../../context.ts'
import { forbidden } from '../../../errors.ts'

/** Users set up a second factor only for themselves. */
export function assertOwn(viewer: User, { identity }: Caller): void {
  if (identity?.user.id !== viewer.id) throw forbidden()
}
