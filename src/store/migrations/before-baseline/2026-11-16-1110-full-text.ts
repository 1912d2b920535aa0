import type { Kysely } from 'kysely'
import { countChanges } from '../helpers/counts.ts'
import { createTextIndex } from '../helpers/text-index.ts'

export async function up(db: Kysely<never>): Promise<void> {
  await createTextIndex(db, 'issues', ['title', 'description'])
  await createTextIndex(db, 'milestones', ['title', 'description'])
  await createTextIndex(db, 'notes', ['body'])
  await createTextIndex(db, 'snippets', ['title', 'description'])
  await countChanges(db, 'milestones', ['description'], 'milestone_texts')
  await countChanges(db, 'notes', ['body', 'internal'], 'note_texts')
}
