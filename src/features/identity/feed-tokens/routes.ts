import { endpoint } from '../../../api/endpoint.ts'
import type { Caller } from '../../../api/credentials.ts'
import type { User } from '../../../context.ts'
import { forbidden } from '../../../errors.ts'
import { FeedTokenEntity } from './entity.ts'
import { feedTokenOf, replaceFeedToken } from './service.ts'

/** A caller who acts for another user must not obtain that user's feed token, which does not expire. */
function assertOwn(viewer: User, { identity }: Caller): void {
  if (identity?.user.id !== viewer.id) throw forbidden()
}

export const get = endpoint({
  method: 'GET',
  path: '/user/feed_token',
  summary: 'Get the feed token of the signed-in user, null if there is none',
  allow: 'signed_in',
  secret: true,
  output: FeedTokenEntity,
  async handle({ app, viewer, caller }) {
    assertOwn(viewer, caller)
    return { feed_token: await feedTokenOf(app, viewer) }
  },
})

export const rotate = endpoint({
  method: 'POST',
  path: '/user/feed_token/rotate',
  summary: 'Reset the feed token of the signed-in user',
  allow: 'signed_in',
  output: FeedTokenEntity,
  status: 200,
  async handle({ app, viewer, caller }) {
    assertOwn(viewer, caller)
    return { feed_token: await replaceFeedToken(app, viewer) }
  },
})
