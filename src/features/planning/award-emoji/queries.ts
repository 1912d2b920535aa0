import { child, type Resource } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import { noteOf } from '../notes/queries.ts'
import { noteablePolicy, type NoteableKind, type NoteablePolicy, type NoteableSubject } from '../notes/noteable.ts'
import type { Awardable } from './awardable.ts'
import type { AwardEmoji } from './model.ts'

export interface AwardableSubject extends NoteableSubject {
  readonly awardable: Awardable
}

/** The policy of a reaction is that of its noteable. */
type AwardableResource = Resource<AwardableSubject, NoteablePolicy>

const name = 'Award Emoji'

/** The noteable itself. */
export const awardableItem = (noteableKind: NoteableKind): AwardableResource =>
  child(noteableKind.named(name), {
    name,
    key: 'awardable',
    params: {},
    async find(_app, { topic: { noteable } }): Promise<Awardable | null> {
      const { project_id } = noteable
      if ('issue_id' in noteable)
        return { columns: { issue_id: noteable.issue_id }, type: 'Issue', id: noteable.issue_id, project_id }
      if ('merge_request_id' in noteable) {
        const { merge_request_id } = noteable
        return { columns: { merge_request_id }, type: 'MergeRequest', id: merge_request_id, project_id }
      }
      if ('snippet_id' in noteable)
        return { columns: { snippet_id: noteable.snippet_id }, type: 'Snippet', id: noteable.snippet_id, project_id }
      return null
    },
  }) as unknown as AwardableResource

/** Users cannot react to system notes. */
export const awardableNote = (noteableKind: NoteableKind): AwardableResource =>
  child(noteOf(noteableKind.named(name), { name }), {
    name,
    key: 'awardable',
    params: {},
    find: async (_app, { note }): Promise<Awardable | null> =>
      note.system ? null : { columns: { note_id: note.id }, type: 'Note', id: note.id, project_id: note.project_id },
  }) as unknown as AwardableResource

export function awardsOn(db: Db, { columns }: Awardable) {
  const awards = db.selectFrom('award_emoji').selectAll()
  if ('issue_id' in columns) return awards.where('issue_id', '=', columns.issue_id)
  if ('merge_request_id' in columns) return awards.where('merge_request_id', '=', columns.merge_request_id)
  if ('snippet_id' in columns) return awards.where('snippet_id', '=', columns.snippet_id)
  return awards.where('note_id', '=', columns.note_id)
}

type AwardSubject = AwardableSubject & { readonly award: AwardEmoji }

const mayWithdraw = (s: AwardSubject) =>
  noteablePolicy.talk(s) && (s.award.user_id === s.viewer?.id || s.viewer?.admin === true)

export const awardOf = (on: AwardableResource) =>
  child(on, {
    key: 'award',
    params: { award_id: id },
    policy: { read: () => true, withdraw: mayWithdraw },
    find: ({ db }, { awardable }, { award_id }) =>
      awardsOn(db, awardable).where('id', '=', award_id).executeTakeFirst(),
  })
