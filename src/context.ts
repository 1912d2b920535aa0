/** What every feature is handed, always first: the machinery of one running forge. */
import type { Variable } from './ci/config/variables.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Directories } from './directory/directory.ts'
import type { Job, EventSource } from './jobs/queue.ts'
import type { Subscription } from './jobs/worker.ts'
import type { Limiters, LimitedCaller } from './lib/async/limiter.ts'
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

export interface App {
  readonly config: Config
  /** The address users see, without a slash at its end. */
  readonly url: string
  readonly clock: Clock
  readonly log: Log
  readonly store: Store
  /** Names this process in leases. */
  readonly holder: string
  /** The store's database, or the transaction this work is part of. */
  readonly db: Db
  readonly onCommit: (react: () => void) => void
  /** At the end of each transaction, within it. */
  readonly beforeCommit?: (app: App) => Promise<void>
  readonly jobs: { wake(): void }
  /** What waits for receivers outside. */
  readonly deliveries: { wake(): void }
  readonly describeEvents: DescribeEvents
  /** Whose request this is. Absent in the background. */
  readonly caller?: LimitedCaller | undefined
  /** The event that whoever asks was told of by a hook. */
  readonly chain?: number | undefined
  readonly blobs: Blobs
  readonly mail: Mailer
  /** To receivers of hooks and the like, kept for a moment. */
  readonly outgoing: Connections
  readonly directories: Directories
  readonly vault: Vault
  /** Where what takes git's processes waits for its turn. */
  readonly limiters: Limiters
  /** Whoever holds a connection and does not move is cut off. */
  readonly stalls: Stalls
  readonly onUserRemoved: readonly OnUserRemoved[]
  readonly afterPushes: readonly AfterPush[]
  readonly replannings: readonly Replanning[]
  readonly blobColumns: readonly BlobColumn[]
  readonly writeReadme: WriteReadme
  readonly resolveReferences: ResolveReferences
  readonly followUp: FollowUp
  readonly findTracker: FindTracker
  readonly serviceVariables: ServiceVariables
}

export type User = Row<'users'>

/**
 * What a family does when a user leaves, in the transaction that removes them. The heir stands for them from then on;
 * there is none where everything of theirs shall go. Whoever refuses undoes what the others did, so their order does
 * not matter.
 */
export type OnUserRemoved = (app: App, user: User, input: { successor: User | null }) => Promise<void>

/** Branches, tags and other refs of a project that have moved. */
export interface PushedRefs {
  readonly project: Row<'projects'>
  /** Null where a deploy key without a creator did it. */
  readonly by: number | null
  readonly updates: readonly { readonly ref: string; readonly before: string | null; readonly after: string | null }[]
  readonly options: readonly string[]
}

/**
 * What a family does when refs have moved, before whoever moved them is answered: what they look at next is true. The
 * news of the push does it once more, should the process end before. Lines it returns are shown to whoever pushed.
 */
export type AfterPush = (app: App, pushed: PushedRefs) => Promise<readonly string[] | void>

/** A label or a milestone became another one, in one project or wherever it was. */
export interface Replaced {
  readonly kind: 'label' | 'milestone'
  readonly from: number
  readonly to: number
  readonly project?: number | undefined
}

/** What a family that planning knows nothing of does about its own rows, in the transaction of the change. */
export type Replanning = (app: App, replaced: Replaced) => Promise<void>

/**
 * What a family does about secrets of its own that were sealed with a key that is lost: it makes new ones, or does
 * without. It tells what people must know, a line each.
 */
export type SecretReset = (app: App) => Promise<string[]>

/** A column that holds digests of blobs: what it names is kept. */
export type BlobColumn = {
  [T in keyof Tables]: { readonly table: T; readonly column: keyof Tables[T] & string }
}[keyof Tables]

/** The first commit of a new project: made where all commits are, which projects themselves know nothing of. */
export type WriteReadme = (app: App, actor: User, project: Row<'projects'>, author: User) => Promise<void>

/** What texts of a project name, as the viewer may see it: found by planning, which knows of all things, for whoever renders. */
export type ResolveReferences = (
  app: App,
  viewer: User | null,
  project: Row<'projects'>,
  found: readonly TextReference[],
) => Promise<Resolutions>

/** Where a project's issues are, if not here: found by who knows of services, for whoever renders. */
export type FindTracker = (app: App, project: Row<'projects'>) => Promise<Tracker | null>

/** Where a job runs; the environment is the name of its own. */
export interface JobContext {
  readonly isProtected: boolean
  readonly environment: string | null
}

/** What services of a project give to its jobs: found by who knows of services, for CI. */
export type ServiceVariables = (app: App, project: { readonly id: number }, place: JobContext) => Promise<Variable[]>

/** Threads of a merge request that an issue goes on with: found by who knows of merge requests, for planning. */
export type FollowUp = (
  app: App,
  actor: User,
  project: Row<'projects'>,
  input: { readonly iid: number; readonly discussion?: string | null | undefined },
) => Promise<{
  /** What is to be done, where the issue says nothing else. */
  readonly description: string
  /** Resolves them, in the transaction that makes the issue. */
  settle(app: App, issue: { readonly id: number; readonly iid: number }): Promise<void>
} | null>

const NEVER = new AbortController().signal

/** Background work: the payload holds ids, the handler reads fresh state and bears being run twice. */
export const job = <P>(
  name: string,
  handle: (app: App, payload: P, signal: AbortSignal) => Promise<void>,
  more: Pick<Job<App, P>, 'every' | 'long' | 'recovers'> = {},
): Job<App, P> => ({ name, handle: (app, payload, signal = NEVER) => handle(app, payload, signal), ...more })

/**
 * A family's reaction to another family's event: `on('user.created', 'welcome', async (app, { id }) => …)`. `when` tells
 * from the payload alone whether there is anything to do. What is not done by doing it once more is known by its `source`.
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
