import type { Kysely } from 'kysely'
import { createSubstringIndex } from '../dialect.ts'

/** A search among the milestones of a project reads what has the text, not all of them. */
export const up = (db: Kysely<never>): Promise<void> => createSubstringIndex(db, 'milestones', ['title', 'description'])
