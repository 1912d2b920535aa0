import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { findEmoji } from '../../../lib/text/emoji.ts'
import { TAKEN } from '../../../lib/text/faults.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessOrphan, unlessTaken } from '../../../store/violations.ts'
import { finishTodos } from '../todos/service.ts'
import type { AwardEmoji } from './model.ts'
import type { Awardable } from './awardable.ts'
import { awardsOn } from './queries.ts'

const refused = (fault: string) => notFound(`Award Emoji {:name=>["${fault}"]}`)

const TARGETS = ['issue_id', 'merge_request_id', 'note_id', 'snippet_id'] as const
const ONE_PER_USER = TARGETS.map((target) => [target, 'user_id', 'name'] as const)

/** `named` is any of the emoji's names, without colons. */
export async function award(app: App, actor: User, awardable: Awardable, named: string): Promise<AwardEmoji> {
  const emoji = await findEmoji(named)
  if (!emoji) throw refused('is not included in the list')
  const awarded = transact(app, (app) => insert(app, actor, awardable, emoji.name))
  const isNew = unlessTaken(awarded, 'award_emoji', ONE_PER_USER, () => refused(TAKEN))
  return unlessOrphan(isNew, () => notFound('Award Emoji'))
}

async function insert(
  app: TransactionApp,
  actor: User,
  { columns, project_id }: Awardable,
  name: string,
): Promise<AwardEmoji> {
  const now = timestamp(app.clock)
  const made = await app.db
    .insertInto('award_emoji')
    .values({
      issue_id: null,
      note_id: null,
      snippet_id: null,
      ...columns,
      user_id: actor.id,
      name,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  // A reaction marks the user's to-do items as done.
  if ('issue_id' in columns || 'merge_request_id' in columns) await finishTodos(app, actor.id, columns)
  await emit(app, 'award_emoji.created', { id: made.id, project_id, by: actor.id })
  return made
}

export async function withdraw(app: App, actor: User, { project_id }: Awardable, given: AwardEmoji): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('award_emoji').where('id', '=', given.id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound() // deleted by another request meanwhile
    await emit(app, 'award_emoji.deleted', { ...given, project_id, by: actor.id })
  })
}

/** Removes the reaction where it exists. `name` is the stored name of the emoji. */
export async function toggleAward(app: App, actor: User, awardable: Awardable, name: string): Promise<void> {
  await transact(app, async (app) => {
    const given = await awardsOn(app.db, awardable)
      .where('user_id', '=', actor.id)
      .where('name', '=', name)
      .executeTakeFirst()
    if (given) await withdraw(app, actor, awardable, given)
    else await insert(app, actor, awardable, name)
  })
}
