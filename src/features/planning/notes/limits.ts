import type { App } from '../../../context.ts'
import { Refusal, assertBelowLimit } from '../../../errors.ts'
import type { Db } from '../../../store/database.ts'
import { loadLimits } from '../../instance/plan-limits/queries.ts'
import { hotQuery } from '../../../store/hot.ts'
import { perKind } from '../items/kind.ts'
import { itemIn } from '../items/registry.ts'
import { keyOf, type Noteable } from './system.ts'

const exceeded = () =>
  new Refusal('bad_request', '400 Bad request - Note {:base=>["Maximum number of comments exceeded"]}')

/**
 * Call in the transaction that creates a note. Internal notes have a limit of their own, because others must not see
 * their number.
 */
export async function assertNoteAllowed({ db }: App, noteable: Noteable, internal: boolean): Promise<void> {
  const { noteable_notes: most } = await loadLimits(db)
  if (most === 0) return
  const count = (internal ? null : await keptCount(db, noteable)) ?? (await countUpTo(db, noteable, internal, most))
  assertBelowLimit(count, most, 'comments', exceeded)
}

/** Null if the noteable stores no count. */
async function keptCount(db: Db, noteable: Noteable): Promise<number | null> {
  const item = itemIn(noteable)
  if (!item) return null
  const [counted] = await countOf(item.kind)(db, { id: item.id })
  return counted?.user_notes_count ?? null
}

const countOf = perKind(({ table }) =>
  hotQuery((db, p: { id: number }) =>
    db
      .selectFrom(table as 'issues')
      .select('user_notes_count')
      .where('id', '=', p.id),
  ),
)

async function countUpTo(db: Db, noteable: Noteable, internal: boolean, most: number): Promise<number> {
  const { total } = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('notes')
        .select('id')
        .where((eb) => eb.and(keyOf(noteable)))
        .where('internal', '=', internal)
        .where('system', '=', false)
        .limit(most)
        .as('found'),
    )
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}
