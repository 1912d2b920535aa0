import type { Kysely } from 'kysely'
import { createSubstringIndex } from '../helpers/substring-index.ts'

/** A search among the milestones of a project reads only matching rows. */
export const up = (db: Kysely<never>): Promise<void> => createSubstringIndex(db, 'milestones', ['title', 'description'])
