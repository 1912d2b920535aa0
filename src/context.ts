/** The first argument of every feature function: the parts of one running forge. */
import type { Variable } from './ci/config/variables.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Directories } from './directory/directory.ts'
import type { Job, EventSource } from './jobs/queue.ts'
import type { Subscription } from './jobs/worker.ts'
import type { Limiters, LimitedCaller } from './lib/async/limiter.ts'
import type { PageReads } from './lib/async/page-reads.ts'
import type { Stalls } from './lib/async/stalls.ts'
import type { Resolutions, TextReference } from './lib/markdown/markdown.ts'
import type { Vault } from './lib/crypto/secrets.ts'
import type { Tracker } from './lib/text/tracker-keys.ts'
import type { Log } from './log.ts'
import type { Mailer } from './mail/mailer.ts'
import type { Connections } from './outbound/connections.ts'
import type { Blobs } from './store/blobs/blobs.ts'
import type { Db, Events, Row, Store, Tables } from './store/database.ts'
import type { DescribeEvents } from './store/outbox.ts'
import type { InTransaction } from './store/transact.ts'

export interface App {
  readonly config: Config
  /** The URL that users see, without a trailing slash. */
  readonly url: string
  readonly clock: Clock
  readonly log: Log
  readonly store: Store
  /** Identifies this process in leases. */
  readonly holder: string
  /** The database of the store, or the transaction that this work is part of. */
  readonly db: Db
  readonly onCommit: (react: () => void) => void
  /** Runs at the end of each transaction, inside it. */
  readonly beforeCommit?: (app: TransactionApp) => Promise<void>
  readonly jobs: { wake(): void }
  /** Pending webhook and integration deliveries. */
  readonly deliveries: { wake(): void }
  readonly describeEvents: DescribeEvents
  /** The caller of this request. Absent in background work. */
  readonly caller?: LimitedCaller | undefined
  /** The event whose hook delivery caused this request. */
  readonly chain?: number | undefined
  /** What the page that makes this call has read so far (`oncePerPage`). Absent for other callers. */
  readonly pageReads?: PageReads | undefined
  readonly blobs: Blobs
  readonly mail: Mailer
  /** Open connections to receivers of webhooks and similar, kept for a short time. */
  readonly outgoing: Connections
  readonly directories: Directories
  readonly vault: Vault
  /** Limiters for work that starts git processes. */
  readonly limiters: Limiters
  /** Closes connections of clients that stall. */
  readonly stalls: Stalls
  readonly onUserRemoved: readonly OnUserRemoved[]
  readonly afterPushes: readonly AfterPush[]
  readonly blobColumns: readonly BlobColumn[]
  readonly writeReadme: WriteReadme
  readonly resolveReferences: ResolveReferences
  readonly findTracker: FindTracker
  readonly serviceVariables: ServiceVariables
}

/** The app inside `transact`: its `db` is the transaction. Events and row locks require it. */
export type TransactionApp = InTransaction<App>

export type User = Row<'users'>

/**
 * What a family does when a user is removed, in the same transaction. The successor takes over the user's records;
 * without a successor all of them are deleted. If one family throws, the work of the others is rolled back, so their
 * order does not matter.
 */
export type OnUserRemoved = (app: TransactionApp, user: User, input: { successor: User | null }) => Promise<void>

/** Branches, tags and other refs of a project that have moved. */
export interface PushedRefs {
  readonly project: Row<'projects'>
  /** Null for a deploy key without a creator. */
  readonly by: number | null
  readonly updates: readonly { readonly ref: string; readonly before: string | null; readonly after: string | null }[]
  readonly options: readonly string[]
}

/**
 * What a family does when refs have moved, before the push is answered, so that the next read is up to date. The push
 * event runs it again, in case the process ends before. The pusher sees the returned lines.
 */
export type AfterPush = (app: App, pushed: PushedRefs) => Promise<readonly string[] | void>

/**
 * What a family does with its secrets that were encrypted with a lost key: it creates new ones, or does without.
 * Returns lines that tell the administrator what happened.
 */
export type SecretReset = (app: App) => Promise<string[]>

/** A column with digests of blobs: the blobs it refers to are kept. */
export type BlobColumn = {
  [T in keyof Tables]: { readonly table: T; readonly column: keyof Tables[T] & string }
}[keyof Tables]

/**
 * Creates the first commit of a new project; provided by the context that creates commits, which projects do not know.
 */
export type WriteReadme = (app: App, actor: User, project: Row<'projects'>, author: User) => Promise<void>

/**
 * Resolves the references in texts of a project, as the viewer may see them. Provided by planning, which knows all
 * kinds of records, for code that renders texts.
 */
export type ResolveReferences = (
  app: App,
  viewer: User | null,
  project: Row<'projects'>,
  found: readonly TextReference[],
) => Promise<Resolutions>

/**
 * The external issue tracker of a project, if any. Provided by the context of integrations, for code that renders
 * texts.
 */
export type FindTracker = (app: App, project: Row<'projects'>) => Promise<Tracker | null>

/** Where a job runs; `environment` is the name of its environment. */
export interface JobContext {
  readonly isProtected: boolean
  readonly environment: string | null
}

/** Variables that integrations of a project give to its jobs. Provided by the context of integrations, for CI. */
export type ServiceVariables = (app: App, project: { readonly id: number }, context: JobContext) => Promise<Variable[]>

const NEVER = new AbortController().signal

/**
 * A background job: the payload contains ids, and the handler reads the current state and must tolerate running twice.
 */
export const job = <P>(
  name: string,
  handle: (app: App, payload: P, signal: AbortSignal) => Promise<void>,
  more: Pick<Job<App, P>, 'every' | 'long' | 'recovers'> = {},
): Job<App, P> => ({ name, handle: (app, payload, signal = NEVER) => handle(app, payload, signal), ...more })

/**
 * A subscriber to an event of another family: `on('user.created', 'welcome', async (app, { id }) => …)`. `when` decides
 * from the payload alone whether there is anything to do. A handler that must not repeat its effect identifies the
 * event by its `source`.
 */
export const on = <E extends keyof Events>(
  event: E,
  subscriber: string,
  handle: (app: App, payload: Events[E], update: EventSource) => Promise<void>,
  more: { when?: (payload: Events[E]) => boolean } = {},
): Subscription<App> => ({
  name: `${event} → ${subscriber}`,
  event,
  handle: (app, payload, _signal, update) => handle(app, payload, update!),
  ...more,
})
