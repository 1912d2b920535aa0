/** One running forge: opens and closes all its parts. */
import { existsSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { DestinationStream } from 'pino'
import { RateLimiter } from './api/limits.ts'
import { createMetrics, type CollectFigures, type Metrics } from './api/metrics.ts'
import type { Authentication } from './api/run.ts'
import { createServer } from './api/server.ts'
import { systemClock, type Clock } from './clock.ts'
import { CannotStart, type Config } from './config.ts'
import type { App } from './context.ts'
import { openDirectories } from './directory/directory.ts'
import { byJobToken, jobReaches } from './features/ci/job-tokens/authenticate.ts'
import { authentication } from './features/identity/authentication.ts'
import { distribute } from './features/integrations/deliveries/distribute.ts'
import { endLive, hasListeners, notifyListeners } from './features/integrations/live/hub.ts'
import { startDeliverer } from './features/integrations/deliveries/deliverer.ts'
import { describeEvents } from './features/integrations/messages/describe.ts'
import { keyFile, makeKey, readKey } from './features/instance/instance-key/file.ts'
import { findKeyCheck, keepKey } from './features/instance/instance-key/service.ts'
import { keepDefaults } from './features/instance/settings/defaults.ts'
import { limitOf, throttleOf } from './features/instance/settings/throttles.ts'
import { findTracker } from './features/integrations/services/trackers.ts'
import { recordAuditEvent } from './features/instance/audit-events/service.ts'
import { serviceVariables } from './features/integrations/services/variables.ts'
import { resolveInProject } from './features/planning/markdown/references.ts'
import { writeReadme } from './features/repository/files/readme.ts'
import {
  addressPages,
  afterPushes,
  blobColumns,
  families,
  webhooks,
  onUserRemoved,
  jobs,
  projectPages,
  reactions,
  v4,
  web,
} from './features/v4.ts'
import { closeReaders } from './git/process/readers.ts'
import { joinProcesses, newLeaseHolder } from './jobs/processes.ts'
import { idleLoop, type Loop } from './jobs/loop.ts'
import { startWorker } from './jobs/worker.ts'
import { cacheBudget } from './lib/async/cache-budget.ts'
import { newLimiters } from './lib/async/limiter.ts'
import { makeFolder } from './lib/files/make-folder.ts'
import { Stalls } from './lib/async/stalls.ts'
import { vault } from './lib/crypto/secrets.ts'
import { openLog } from './log.ts'
import { folderMailer, quietMailer, smtpMailer, watchedMailer, type Mail } from './mail/mailer.ts'
import { Connections } from './outbound/connections.ts'
import { openBlobs } from './store/blobs/open.ts'
import { forgetTotals } from './store/counts.ts'
import { isMigrated, migrate, pendingMigrations } from './store/migrate.ts'
import { openStore } from './store/open.ts'
import { reasonOf } from './store/reason.ts'
import { forgetCaches } from './store/versions.ts'
import { startSsh, type SshServer } from './transport/ssh.ts'
import { routes as transport } from './transport/web.ts'
import { routes as assets } from './web/assets.ts'
import { webPages } from './web/pages.ts'

export interface Options {
  readonly clock?: Clock
  readonly logTo?: DestinationStream | undefined
  /** Disabled in tests: the store then does not wait for the disk. */
  readonly durable?: boolean
  /** Disabled in tests: no other process uses the store, and queries are counted. */
  readonly heartbeat?: boolean
  /** Enabled in tests: every answer is compared with its declared schema. */
  readonly checkOutput?: boolean
  /** Milliseconds that running requests may still take when the forge closes. */
  readonly patience?: number | undefined
  /** The servers are built while this promise is pending, and listen once it is resolved. */
  readonly openAfter?: Promise<unknown>
  /** Throws if there is no instance yet, instead of creating one. */
  readonly mustExist?: boolean
  /** Set if there are several HTTP processes. */
  readonly collectFigures?: CollectFigures
  /** Called for each sent mail. */
  readonly onMail?: (mail: Mail) => void
  /** Also opens with a key that does not match the stored secrets. */
  readonly withAnyKey?: boolean
}

/** The app without its servers, for the CLI commands. */
export interface OpenedApp extends AsyncDisposable {
  readonly app: App
  readonly applied: string[]
}

/** Turns an error of `work` into one line. The system's message is clear enough to be appended to ours. */
async function orCannotStart<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new CannotStart(`${what}: ${reasonOf(cause)}`, { cause })
  }
}

const MB = 1024 * 1024

const RECOVERIES = jobs.filter(({ recovers }) => recovers).map(({ name }) => name)

export async function openApp(config: Config, options: Options = {}): Promise<OpenedApp> {
  const { clock = systemClock, durable = true } = options
  const file = join(config.data, 'mortise.sqlite')
  const unknown = new CannotStart(`${config.data} holds no instance`)
  const { readOnly } = config
  const mustExist = options.mustExist || readOnly
  if (mustExist && !config.databaseUrl && !existsSync(file)) throw unknown
  const folder = `the data folder ${config.data} cannot be used`
  const given = await orCannotStart(folder, async () => {
    await makeFolder(config.data)
    await access(config.data, constants.W_OK)
    return readKey(config)
  })
  for (const storage of Object.values(config.storages))
    if (!storage.startsWith(`${config.data}/`))
      await orCannotStart(`the storage ${storage} cannot be used`, () => makeFolder(storage))
  const blobs = await orCannotStart('the blob store cannot be used', () => openBlobs(config))
  cacheBudget.resize(config.cacheMemory * MB)
  const log = await openLog(config.log, options.logTo)
  const unusable = config.databaseUrl ? 'the database cannot be used' : `the database ${file} cannot be used`
  const store = await orCannotStart(unusable, () =>
    openStore(config.databaseUrl ?? file, {
      durable,
      shared: config.workers > 1,
      poolSize: config.databasePool,
      readOnly,
    }),
  )
  try {
    if (mustExist && !(await orCannotStart(unusable, () => isMigrated(store)))) throw unknown
    if (readOnly && (await orCannotStart(unusable, () => pendingMigrations(store))).length > 0) throw olderData()
    const applied = readOnly ? [] : await orCannotStart(unusable, () => migrate(store))
    const url = config.url ?? linkAddress(config.host, config.port)
    const { hostname } = new URL(url)
    const sender = {
      address: config.mailFrom ?? `mortise@${hostname}`,
      replyTo: config.mailReplyTo ?? `noreply@${hostname}`,
    }
    const mailer = config.smtpUrl
      ? smtpMailer(config.smtpUrl, sender, log)
      : folderMailer(join(config.data, 'mail'), sender, log)
    const mail = readOnly ? quietMailer : options.onMail ? watchedMailer(mailer, options.onMail) : mailer
    const around: Omit<App, 'vault'> = {
      config,
      url,
      clock,
      log,
      store,
      holder: newLeaseHolder(),
      db: store.db,
      onCommit: (react) => react(),
      jobs: { wake: () => {} },
      deliveries: { wake: () => {} },
      describeEvents,
      blobs,
      mail,
      outgoing: new Connections(),
      directories: openDirectories(config),
      limiters: newLimiters(),
      stalls: new Stalls(),
      onUserRemoved,
      afterPushes,
      blobColumns,
      writeReadme,
      resolveReferences: resolveInProject,
      findTracker,
      serviceVariables,
    }
    const { sealed, isKept } = await orCannotStart(unusable, () => findKeyCheck(store.db))
    const isOurs = sealed === null || (given !== null && vault(given).canOpen(sealed))
    if (!isOurs && !options.withAnyKey) throw otherKey(config, given !== null)
    if (given === null && readOnly) throw otherKey(config, false)
    const key = given ?? (await orCannotStart(folder, () => makeKey(config)))
    const app: App = { ...around, vault: vault(key) }
    const registration = await orCannotStart(unusable, async () => {
      if (!isKept && isOurs && !readOnly) await keepKey(app)
      if (!readOnly) await keepDefaults(app)
      return joinProcesses(app, RECOVERIES, { beats: options.heartbeat ?? true, sweeps: !readOnly })
    })
    const close = async () => {
      mail.close()
      await app.outgoing[Symbol.asyncDispose]()
      await registration[Symbol.asyncDispose]()
      forgetCaches(store.db)
      forgetTotals(store.db)
      await store.close()
    }
    return { app, applied, [Symbol.asyncDispose]: close }
  } catch (error) {
    await store.close()
    throw error
  }
}

export interface Forge extends AsyncDisposable {
  readonly app: App
  readonly worker: Loop
  readonly deliverer: Loop
  readonly http: Server
  readonly metrics: Metrics
  /** Continues with another store and no cached state; `prepare` is called while no store is open. */
  reopen(prepare: () => Promise<void>): Promise<void>
}

/** Starts everything; the server accepts requests when this resolves. */
export async function serve(config: Config, options: Options = {}): Promise<Forge> {
  return startServers(await openApp(config, options), options)
}

/** Adds the tokens of CI jobs, which the identity context does not know. */
const withJobTokens: Authentication = {
  ...authentication,
  identify: (app, shown, address) =>
    shown.as === 'job_token' ? byJobToken(app, shown.secret) : authentication.identify(app, shown, address),
  jobReaches,
}

/** A clone may take hours and its client may be gone. The CLI waits 30 seconds for closing as a whole. */
const PATIENCE_MS = 20_000

/** Closing waits a short time for running requests and jobs, then closes the app. */
export async function startServers(first: OpenedApp, options: Options = {}): Promise<Forge> {
  let opened = first
  const { config } = opened.app
  const { patience = PATIENCE_MS } = options
  // The port, and so the URL that users see, may be known only after binding.
  const app: App = { ...opened.app, jobs: { wake: () => worker.wake() }, deliveries: { wake: () => deliverer.wake() } }
  const newLimiter = () =>
    new RateLimiter(
      config.rateLimit,
      app.clock,
      (whom) => throttleOf(app, whom),
      (limit, user) => limitOf(app, limit, user),
    )
  const gateway = {
    app,
    authentication: withJobTokens,
    limiter: newLimiter(),
    spool: join(config.data, 'spool'),
    checkOutput: options.checkOutput ?? false,
    recordAuditEvent,
  }
  const metrics = createMetrics(app, options.collectFigures)
  const server = createServer(gateway, v4, metrics)
  const connections = connectionsOf(server)
  const about = { metrics, families, webhooks, projectPages, addressPages, pages: webPages(gateway, v4) }
  for (const addRoutes of [...web, assets, transport]) addRoutes(server, gateway, about)
  const audience = { isThere: hasListeners, tell: notifyListeners }
  // In read-only mode no job runs and nothing is delivered: no mail, no webhook, no schedule, no mirror.
  const startWork = () =>
    config.readOnly ? idleLoop : startWorker(app, { jobs, subscriptions: reactions, distribute, audience })
  const startDeliveries = () => (config.readOnly ? idleLoop : startDeliverer(app))
  let worker = startWork()
  let deliverer = startDeliveries()
  let ssh: SshServer | null = null
  const closeApp = async () => {
    endLive(opened.app)
    await Promise.all([worker.stop(), deliverer.stop()])
    closeReaders()
    await opened[Symbol.asyncDispose]()
  }
  const close = async () => {
    await Promise.all([drain(server, connections, patience), ssh?.[Symbol.asyncDispose]()])
    await closeApp()
  }
  const reopen = async (prepare: () => Promise<void>) => {
    await closeApp()
    await prepare()
    opened = await openApp(config, options)
    const { url, jobs: queue, deliveries, config: bound } = app
    Object.assign(app, opened.app, { url, jobs: queue, deliveries, config: bound })
    gateway.limiter = newLimiter()
    worker = startWork()
    deliverer = startDeliveries()
  }
  try {
    await options.openAfter
    const { host, port } = config
    await orCannotStart(`cannot listen on ${addressOf(host, port)}`, () => server.listen({ host, port }))
    const bound = server.server.address() as AddressInfo
    if (!config.url) Object.assign(app, { url: linkAddress(host, bound.port) })
    ssh = await orCannotStart(`cannot listen on port ${config.sshPort} for SSH`, () =>
      startSsh({ app, figures: metrics.ssh }, { patience }),
    )
    if (ssh) Object.assign(app, { config: Object.freeze({ ...config, sshPort: ssh.port }) })
  } catch (error) {
    await close()
    throw error
  }
  return {
    app,
    get worker() {
      return worker
    },
    get deliverer() {
      return deliverer
    },
    http: server.server,
    metrics,
    reopen,
    [Symbol.asyncDispose]: close,
  }
}

const isEveryAddress = (host: string) => /^(0\.0\.0\.0|\[?::\]?)$/.test(host)

/** The URL in links if none is configured: a wildcard address such as 0.0.0.0 cannot be used in a link. */
export const linkAddress = (host: string, port: number) => addressOf(isEveryAddress(host) ? 'localhost' : host, port)

/** A warning at start if other machines can connect but the links they get lead nowhere. */
export const addressAdvice = ({ host, url }: Config): string | null =>
  url === null && isEveryAddress(host)
    ? 'It listens on all addresses, but its links name localhost: set MORTISE_URL (--url) to the address others use'
    : null

export const addressOf = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

const SWEEP_MS = 50

function connectionsOf({ server }: FastifyInstance): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

/**
 * Stops accepting connections and waits for running requests. Without this, a connection whose request was running at
 * the time of closing would stay open and idle as long as its client likes. A connection that a browser opened in
 * advance is not idle for Node. A slow reader would be waited for without limit.
 */
async function drain(server: FastifyInstance, open: ReadonlySet<Socket>, patience: number): Promise<void> {
  const closeIdle = () => {
    server.server.closeIdleConnections()
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
  const sweep = setInterval(closeIdle, SWEEP_MS)
  const last = setTimeout(() => server.server.closeAllConnections(), patience)
  try {
    await server.close()
  } finally {
    clearInterval(sweep)
    clearTimeout(last)
  }
}

const olderData = () =>
  new CannotStart('the database needs migrations: run mortise migrate first, or start without --read-only')

function otherKey(config: Config, isGiven: boolean): CannotStart {
  const key = config.secretKey ? 'MORTISE_SECRET_KEY' : keyFile(config)
  const fault = isGiven ? 'is not the key that the stored secrets were sealed with' : 'is missing'
  return new CannotStart(`${key} ${fault}: restore the key, or delete the secrets with mortise secrets reset`)
}
