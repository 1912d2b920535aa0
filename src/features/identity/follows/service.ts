import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'

/** Users cannot follow themselves, the ghost or an inactive user. */
export async function followUser(app: App, actor: User, user: User): Promise<void> {
  if (user.id === actor.id || user.ghost || user.state !== 'active') throw new Refusal('not_modified')
  await transact(app, async (app) => {
    const followed = await app.db
      .insertInto('user_follows')
      .values({ follower_id: actor.id, followee_id: user.id, created_at: timestamp(app.clock) })
      .onConflict((c) => c.columns(['follower_id', 'followee_id']).doNothing())
      .returning('followee_id')
      .executeTakeFirst()
    if (!followed) throw new Refusal('not_modified')
    await emit(app, 'user.followed', { id: user.id, by: actor.id })
  })
}

export async function unfollowUser(app: App, actor: User, user: User): Promise<void> {
  await transact(app, async (app) => {
    const gone = await app.db
      .deleteFrom('user_follows')
      .where('follower_id', '=', actor.id)
      .where('followee_id', '=', user.id)
      .returning('followee_id')
      .executeTakeFirst()
    if (!gone) throw new Refusal('not_modified')
    await emit(app, 'user.unfollowed', { id: user.id, by: actor.id })
  })
}
