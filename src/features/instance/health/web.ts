import { randomUUID } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { RouteShorthandOptions } from 'fastify'
import { scopesOf, presentedCredential, type PresentedCredential } from '../../../api/credentials.ts'
import { readQuery } from '../../../api/input.ts'
import type { Gateway } from '../../../api/run.ts'
import type { WebRoutes } from '../../../api/server.ts'
import { unauthenticated } from '../../../errors.ts'
import { digestOf } from '../../../lib/crypto/secrets.ts'

/**
 * Monitoring endpoints. `/-/liveness`, `/-/readiness` and `/-/health` reveal nothing sensitive and are open.
 * `/-/metrics` shows how the instance is used: it requires a credential of an administrator, or the metrics token. A
 * local caller is not trusted: it may be a proxy that does not identify itself.
 */
export const routes: WebRoutes = (server, gateway, { metrics }) => {
  server.get('/-/liveness', fresh, async () => ({ status: 'ok' }))

  server.get('/-/health', fresh, async () => 'Mortise OK')

  server.get('/-/readiness', fresh, async (_request, reply) => {
    const checks = await inspect(gateway)
    const status = statusOf(checks, gateway.app.blobs.isShared)
    return reply
      .code(status === 'failed' ? 503 : 200)
      .send({ status, ...(gateway.app.config.readOnly && { read_only: true }), checks })
  })

  server.get('/-/metrics', fresh, async (request, reply) => {
    const shown = presentedCredential(request, readQuery(request.raw.url!))
    if (!shown || !(await mayWatch(gateway, shown, request.ip))) throw unauthenticated()
    return reply.type(metrics.contentType).send(await metrics.text())
  })
}

const fresh: RouteShorthandOptions = {
  onRequest: (_request, reply, done) => {
    reply.header('Cache-Control', 'no-store')
    done()
  },
}

type Checks = Record<'store' | 'blobs' | 'spool', 'ok' | 'failed'>

/** If a shared blob store fails, most requests still work: a load balancer must not remove every node. */
function statusOf({ store, blobs, spool }: Checks, hasSharedBlobs: boolean): 'ok' | 'degraded' | 'failed' {
  if (store === 'failed' || spool === 'failed') return 'failed'
  if (blobs === 'ok') return 'ok'
  return hasSharedBlobs ? 'degraded' : 'failed'
}

/** The reason of a failed check is only logged. */
async function inspect({ app, spool }: Gateway): Promise<Checks> {
  const state = async (check: string, work: () => Promise<unknown>) => {
    try {
      await inTime(work())
      return 'ok'
    } catch (error) {
      app.log.error({ part: 'health', check, err: error }, 'not ready')
      return 'failed'
    }
  }
  const [store, blobs, files] = await Promise.all([
    state('store', () => sql`select 1`.execute(app.db)),
    state('blobs', () => app.blobs.check()),
    state('spool', () => writeInto(spool)),
  ])
  return { store, blobs, spool: files }
}

const PATIENCE_MS = 5_000

/** An unreachable store may never answer, so the check has a timeout. */
async function inTime(work: Promise<unknown>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer in ${PATIENCE_MS} ms`)), PATIENCE_MS)
  try {
    await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Only writing a file proves that the folder is writable: permissions do not show a full disk, and do not apply to
 * root.
 */
async function writeInto(folder: string): Promise<void> {
  const file = join(folder, randomUUID())
  await mkdir(folder, { recursive: true })
  try {
    await writeFile(file, 'ready')
  } finally {
    await rm(file, { force: true })
  }
}

async function mayWatch(
  { app, authentication }: Gateway,
  shown: PresentedCredential,
  address: string,
): Promise<boolean> {
  const { metricsToken } = app.config
  if (metricsToken !== null && digestOf(shown.secret) === digestOf(metricsToken)) return true
  const identity = await authentication.identify(app, shown, address)
  if (!identity?.user.admin || identity.kind === 'job') return false
  return identity.scopes?.some((scope) => scopesOf({ method: 'GET' }).includes(scope)) ?? true
}
