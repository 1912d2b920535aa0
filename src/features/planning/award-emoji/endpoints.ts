/** Reactions to noteables and to notes. */
import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import type { NoteableKind } from '../notes/noteable.ts'
import { AwardEmojiEntity, presentAward } from './entity.ts'
import { awardOf, awardableNote, awardableItem, awardsOn } from './queries.ts'
import { award, withdraw } from './service.ts'

interface Scope {
  path: `/${string}`
  noun: string
  by: 'user' | 'visitor'
  on: ReturnType<typeof awardableItem>
}

function awardsAt({ path, noun, by, on }: Scope) {
  const one = awardOf(on)
  return {
    list: endpoint({
      method: 'GET',
      path: `${path}/award_emoji`,
      summary: `List the reactions to ${noun}`,
      on,
      allow: 'read',
      by,
      output: pageOf(AwardEmojiEntity),
      async handle({ app, subject: { awardable }, page }) {
        const { items, total } = await pageOfQuery(awardsOn(app.db, awardable).orderBy('id'), page)
        const around = await surroundings(app)
        const awards = await withUsers(app.db, items, { user: 'user_id' })
        return { total, items: awards.map((given) => presentAward(given, awardable, around)) }
      },
    }),

    get: endpoint({
      method: 'GET',
      path: `${path}/award_emoji/:award_id`,
      summary: `Get a reaction to ${noun}`,
      on: one,
      allow: 'read',
      by,
      output: AwardEmojiEntity,
      async handle({ app, subject }) {
        const [given] = await withUsers(app.db, [subject.award], { user: 'user_id' })
        return presentAward(given!, subject.awardable, await surroundings(app))
      },
    }),

    create: endpoint({
      method: 'POST',
      path: `${path}/award_emoji`,
      summary: `React to ${noun}`,
      on,
      allow: 'talk',
      input: z.object({ name: text }),
      output: AwardEmojiEntity,
      async handle({ app, viewer, subject: { awardable }, input }) {
        const given = await award(app, viewer, awardable, input.name)
        return presentAward({ ...given, user: viewer }, awardable, await surroundings(app))
      },
    }),

    destroy: endpoint({
      method: 'DELETE',
      path: `${path}/award_emoji/:award_id`,
      summary: `Remove a reaction from ${noun}`,
      on: one,
      allow: 'withdraw',
      denied: 'unauthenticated',
      changedAt: (subject) => subject.award.updated_at,
      output: null,
      handle: ({ app, viewer, subject }) => withdraw(app, viewer, subject.awardable, subject.award),
    }),
  }
}

/** Reactions to a noteable, and to the notes on it. */
export function reactionsOn(noteable: NoteableKind) {
  const { path, noun, by } = noteable
  const onNote = awardsAt({
    path: `${path}/notes/:note_id`,
    noun: `a note on ${noun}`,
    by,
    on: awardableNote(noteable),
  })
  return {
    ...awardsAt({ path, noun, by, on: awardableItem(noteable) }),
    listOfNote: onNote.list,
    getOfNote: onNote.get,
    createOnNote: onNote.create,
    destroyOfNote: onNote.destroy,
  }
}
