import { endpoint } from '../../../api/endpoint.ts'
import { FeedTokenEntity } from './entity.ts'
import { feedTokenOf, replaceFeedToken } from './service.ts'

export const get = endpoint({
  method: 'GET',
  path: '/user/feed_token',
  summary: 'Get the feed token of the signed-in user, null if there is none',
  allow: 'signed_in',
  inPerson: true,
  secret: true,
  output: FeedTokenEntity,
  async handle({ app, viewer }) {
    return { feed_token: await feedTokenOf(app, viewer) }
  },
})

export const rotate = endpoint({
  method: 'POST',
  path: '/user/feed_token/rotate',
  summary: 'Reset the feed token of the signed-in user',
  allow: 'signed_in',
  inPerson: true,
  output: FeedTokenEntity,
  status: 200,
  async handle({ app, viewer }) {
    return { feed_token: await replaceFeedToken(app, viewer) }
  },
})
