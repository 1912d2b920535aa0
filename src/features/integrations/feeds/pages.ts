import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { assertPlain, readQuery } from '../../../api/input.ts'
import type { Gateway } from '../../../api/run.ts'
import type { AddressPage, PageContent } from '../../../api/server.ts'
import type { App } from '../../../context.ts'
import { newestOf, writeFeed } from '../../../lib/text/atom.ts'
import { limitedCaller } from '../../../lib/async/limiter.ts'
import { SECRET_PARAMETERS } from '../../../log.ts'
import { feedAddresses } from './addresses.ts'
import { findFeed, type FeedRequest, type Feed } from './feeds.ts'
import { feedReader } from './reader.ts'

export const feedPage: AddressPage = async (gateway, request, segments) => {
  const query = readQuery(request.raw.url!)
  const addresses = feedAddresses(segments, query.format)
  if (addresses.length === 0) return null
  return serveFeed(gateway, request, async (app, feedRequest) => {
    for (const address of addresses) {
      const found = await findFeed(app, feedRequest, address)
      if (found) return found
    }
    return null
  })
}

export async function serveFeed(
  gateway: Gateway,
  request: FastifyRequest,
  find: (app: App, feedRequest: FeedRequest) => Promise<Feed | null>,
): Promise<PageContent | null> {
  const query = readQuery(request.raw.url!)
  assertPlain(query)
  const viewer = await feedReader(gateway, request)
  const app = { ...gateway.app, caller: limitedCaller(viewer?.id, request.ip) }
  const found = await find(app, { viewer, address: request.ip, query })
  return found && content(app, request, found)
}

/** The requested URL without secret parameters. */
function selfOf({ url }: App, { raw }: FastifyRequest): string {
  const [path, query] = raw.url!.split('?', 2) as [string, string | undefined]
  const kept = [...new URLSearchParams(query)].filter(([name]) => !SECRET_PARAMETERS.includes(name))
  return `${url}${path}${kept.length > 0 ? `?${new URLSearchParams(kept)}` : ''}`
}

/** Within this time another entry with the same second may appear. */
const SETTLED_MS = 2000

function content(app: App, request: FastifyRequest, { page, ...found }: Feed): PageContent {
  const feed = { ...found, id: page, page, self: selfOf(app, request) }
  const text = writeFeed(feed)
  const newest = new Date(newestOf(feed))
  const etag = `W/"${hash('sha1', text, 'base64url')}"`
  const isSettled = app.clock.now().getTime() - newest.getTime() > SETTLED_MS
  const headers = {
    'Content-Type': 'application/atom+xml; charset=utf-8',
    'Cache-Control': 'max-age=0, private, must-revalidate',
    // The feed is data: a browser that opens it runs nothing.
    'Content-Security-Policy': "default-src 'none'; sandbox",
    ETag: etag,
    ...(isSettled && { 'Last-Modified': newest.toUTCString() }),
  }
  const { 'if-none-match': tags, 'if-modified-since': since } = request.headers
  const isKnown =
    tags === undefined
      ? isSettled && since === newest.toUTCString()
      : tags.split(',').some((tag) => tag.trim() === etag || tag.trim() === '*')
  return isKnown ? { status: 304, headers, body: Buffer.alloc(0) } : { headers, body: Buffer.from(text) }
}
