import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { unlessOrphan } from '../../../store/violations.ts'
import type { SubscriptionTarget } from './model.ts'
import { columnsOf, isOf, subscriptionOf } from './queries.ts'

/** `usual` is the state without an explicit subscription: participants of issues are subscribed automatically. */
export async function setSubscription(
  app: App,
  { id: user_id }: User,
  target: SubscriptionTarget,
  subscribed: boolean,
  { usual = false }: { usual?: boolean } = {},
): Promise<void> {
  const columns = columnsOf(target)
  const changed = transact(app, async (app) => {
    const { db } = app
    await lockName(db, `subscription ${user_id} ${JSON.stringify(columns)}`)
    const current = await subscriptionOf(db, user_id, target)
    if ((current ?? usual) === subscribed) throw new Refusal('not_modified')
    if (current === null) {
      await db
        .insertInto('subscriptions')
        .values({ user_id, ...columns, subscribed, created_at: timestamp(app.clock) })
        .execute()
      return
    }
    await db
      .updateTable('subscriptions')
      .set({ subscribed })
      .where('user_id', '=', user_id)
      .where(isOf(columns))
      .execute()
  })
  await unlessOrphan(changed, notFound)
}
