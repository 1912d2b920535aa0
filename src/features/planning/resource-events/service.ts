import { timestamp } from '../../../clock.ts'
import type { User, TransactionApp } from '../../../context.ts'
import type { ItemColumns } from '../items/kind.ts'
import type { Label } from '../labels/model.ts'
import type { Milestone } from '../milestones/model.ts'

interface Changed<T> {
  readonly added?: T
  readonly removed?: T
}

/** The changes of an item in one update. */
export interface Happening {
  readonly labels?: Changed<readonly Label[]>
  readonly milestone?: Changed<Milestone | null>
  readonly state?: 'closed' | 'reopened' | 'merged'
  /** The state of the item after the change. */
  readonly itemState?: string
}

export async function addResourceEvents(
  { db, clock }: TransactionApp,
  actor: User,
  item: ItemColumns,
  { labels = {}, milestone = {}, state, itemState = 'opened' }: Happening,
): Promise<void> {
  const common = { ...item, user_id: actor.id, created_at: timestamp(clock) }
  const labelled = (['added', 'removed'] as const).flatMap((way) =>
    (labels[way] ?? []).map(({ id }) => ({ ...common, label_id: id, action: actionOf(way) })),
  )
  if (labelled.length > 0) await db.insertInto('resource_label_events').values(labelled).execute()
  const planned = (['removed', 'added'] as const).flatMap((way) => {
    const one = milestone[way]
    return one ? [{ ...common, milestone_id: one.id, action: actionOf(way), state: itemState }] : []
  })
  if (planned.length > 0) await db.insertInto('resource_milestone_events').values(planned).execute()
  if (state)
    await db
      .insertInto('resource_state_events')
      .values({ ...common, state })
      .execute()
}

const actionOf = (way: keyof Changed<unknown>) => (way === 'added' ? ('add' as const) : ('remove' as const))
