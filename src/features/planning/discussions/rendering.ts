/** Discussions as pages show them: texts rendered for the viewer, with reactions. */
import type { z } from 'zod'
import type { App } from '../../../context.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { presentAward } from '../award-emoji/entity.ts'
import { renderTexts } from '../markdown/service.ts'
import type { NoteableSubject } from '../notes/noteable.ts'
import type { DiscussionEntity } from './entity.ts'

type DiscussionRecord = z.infer<typeof DiscussionEntity>

export async function renderDiscussions(
  app: App,
  subject: NoteableSubject,
  discussions: readonly DiscussionRecord[],
): Promise<DiscussionRecord[]> {
  const notes = discussions.flatMap((one) => one.notes)
  const ids = notes.map(({ id }) => id)
  const bodies = notes.map(({ body }) => body)
  const [awards, texts] = await Promise.all([awardsByNote(app, ids), renderTexts(app, subject.viewer, subject, bodies)])
  const html = new Map(ids.map((id, n) => [id, texts[n]!]))
  return discussions.map((discussion) => ({
    ...discussion,
    notes: discussion.notes.map((note) => ({
      ...note,
      body_html: html.get(note.id)!,
      award_emoji: awards.get(note.id) ?? [],
    })),
  }))
}

async function awardsByNote(app: App, ids: readonly number[]) {
  if (ids.length === 0) return new Map<number, never>()
  const rows = await app.db
    .selectFrom('award_emoji')
    .selectAll()
    .where('note_id', 'in', [...ids])
    .orderBy('id')
    .execute()
  const [around, awards] = await Promise.all([surroundings(app), withUsers(app.db, rows, { user: 'user_id' })])
  const shown = awards.map((award) => {
    const note_id = award.note_id!
    return presentAward(award, { type: 'Note', id: note_id }, around)
  })
  return Map.groupBy(shown, ({ awardable_id }) => awardable_id)
}
