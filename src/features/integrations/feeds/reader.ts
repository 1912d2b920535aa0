import type { FastifyRequest } from 'fastify'
import { noteUser } from '../../../api/exchange.ts'
import { readQuery } from '../../../api/input.ts'
import type { Gateway } from '../../../api/run.ts'
import type { User } from '../../../context.ts'
import { unauthenticated } from '../../../errors.ts'
import { assertMayComeFrom } from '../../identity/addresses/service.ts'
import { byFeedToken } from '../../identity/feed-tokens/authenticate.ts'
import { webViewer } from '../../identity/web-viewer.ts'

/**
 * Identifies the reader: by the feed token, which opens nothing else, or as on every page. Feed readers poll all day,
 * so the rate limit counts them.
 */
export async function feedReader(gateway: Gateway, request: FastifyRequest): Promise<User | null> {
  const visitor = { identity: null, address: request.ip }
  let viewer: User | null
  try {
    viewer = await recognised(gateway, request)
  } catch (error) {
    await gateway.limiter.admit(visitor, {})
    throw error
  }
  const caller = viewer ? { ...visitor, identity: { kind: 'session' as const, user: viewer, scopes: null } } : visitor
  await gateway.limiter.admit(caller, {}, 'web')
  return viewer
}

async function recognised(gateway: Gateway, request: FastifyRequest): Promise<User | null> {
  const { feed_token, rss_token } = readQuery(request.raw.url!)
  const shown = [feed_token, rss_token].find((one) => typeof one === 'string' && one !== '')
  if (typeof shown !== 'string') return webViewer(gateway, request)
  const [path] = request.raw.url!.split('?', 1) as [string]
  const user = await byFeedToken(gateway.app, shown, path)
  noteUser(request.raw, user)
  if (!user) throw unauthenticated()
  await assertMayComeFrom(gateway.app, user, request.ip)
  return user
}
