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
    async find(_app, { topic: { noteable, type, id } }): Promise<Awardable | null> {
      if (type === 'Commit' || id === null || 'commit_sha' in noteable) return null
      const { project_id, ...columns } = noteable
      return { columns, type, id, project_id }
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

export const awardsOn = (db: Db, { columns }: Pick<Awardable, 'columns'>) =>
  db
    .selectFrom('award_emoji')
    .selectAll()
    .where((eb) => eb.and(columns))

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
