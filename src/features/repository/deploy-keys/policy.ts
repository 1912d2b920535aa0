import type { User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'

/** All projects share a public key, so only administrators may rename it. */
export const mayRename = (viewer: User, key: Row<'keys'>): boolean => viewer.admin || !key.public
