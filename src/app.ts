/** One running forge, built and closed in one place. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { DestinationStream } from 'pino'
import { RateLimiter } from './api/limits.ts'
import { createMetrics } from './api/metrics.ts'
import { createServer } from './api/server.ts'
import { jobs, subscriptions } from './features/background.ts'
import { systemClock, type Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { App } from './context.ts'
import { authentication } from './features/identity/authentication.ts'
import { v4 } from './features/v4.ts'
import { web } from './features/web.ts'
import { startWorker, type Worker } from './jobs/worker.ts'
import { vault } from './lib/secrets.ts'
import { openLog } from './log.ts'
import { folderMailer, smtpMailer } from './mail/mailer.ts'
import { folderBlobs } from './store/blobs.ts'
import { openStore } from './store/database.ts'
import { migrate } from './store/migrate.ts'

export interface Options {
  readonly clock?: Clock
  readonly logTo?: DestinationStream | undefined
  /** Off in tests: the store then does not wait for the disk. */
  readonly durable?: boolean
  /** On in tests: every answer is compared with its declared schema. */
  readonly checkOutput?: boolean
}

/** The machinery without its doors: what the command's verbs work with. */
export interface Workshop extends AsyncDisposable {
  readonly app: App
  readonly applied: string[]
}

export async function openWorkshop(config: Config, options: Options = {}): Promise<Workshop> {
  const { clock = systemClock, durable = true } = options
  await mkdir(config.data, { recursive: true, mode: 0o700 })
  const log = await openLog(config.log, options.logTo)
  const store = await openStore(config.databaseUrl ?? join(config.data, 'mortise.sqlite'), { durable, poolSize: 10 })
  try {
    const applied = await migrate(store)
    const url = config.url ?? `http://${config.host}:${config.port}`
    const from = config.mailFrom ?? `mortise@${new URL(url).hostname}`
    const app: App = {
      config,
      url,
      clock,
      log,
      store,
      db: store.db,
      onCommit: (react) => react(),
      jobs: { wake: () => {} },
      blobs: folderBlobs(join(config.data, 'blobs')),
      mail: config.smtpUrl ? smtpMailer(config.smtpUrl, from) : folderMailer(join(config.data, 'mail'), from, log),
      vault: vault(await instanceKey(config)),
    }
    return { app, applied, [Symbol.asyncDispose]: () => store.close() }
  } catch (error) {
    await store.close()
    throw error
  }
}

export interface Forge extends AsyncDisposable {
  readonly app: App
  readonly worker: Worker
}

/** Starts everything; the address is answered on when this resolves. */
export async function serve(config: Config, options: Options = {}): Promise<Forge> {
  const workshop = await openWorkshop(config, options)
  // The port, and with it the address users see, may be known only once it is bound.
  const app: App = { ...workshop.app, jobs: { wake: () => worker.wake() } }
  const door = {
    app,
    authentication,
    limiter: new RateLimiter(config.rateLimit, app.clock),
    spool: join(config.data, 'spool'),
    checkOutput: options.checkOutput ?? false,
  }
  const metrics = createMetrics(app)
  const server = createServer(door, v4, metrics)
  for (const addRoutes of web) addRoutes(server, door, metrics)
  const worker = startWorker(app, { jobs, subscriptions, concurrency: 4 })
  const close = async () => {
    await server.close()
    await worker.stop()
    await workshop[Symbol.asyncDispose]()
  }
  try {
    await server.listen({ host: config.host, port: config.port })
    const { port } = server.server.address() as AddressInfo
    if (!config.url) Object.assign(app, { url: `http://${config.host}:${port}` })
  } catch (error) {
    await close()
    throw error
  }
  return { app, worker, [Symbol.asyncDispose]: close }
}

/** Seals the few secrets that must be read back; whoever has the data folder but not this key cannot. */
async function instanceKey({ data, secretKey }: Config): Promise<Buffer> {
  if (secretKey) return Buffer.from(secretKey, 'hex')
  const file = join(data, 'secret.key')
  try {
    await writeFile(file, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return Buffer.from((await readFile(file, 'utf8')).trim(), 'hex')
}
