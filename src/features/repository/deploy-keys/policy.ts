import type { User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'

/** A public key is everybody's: what it is called is for administrators to say. */
export const mayRename = (viewer: User, key: Row<'keys'>): boolean => viewer.admin || !key.public
