/** What every feature is handed, always first: the machinery of one running forge. */
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Job } from './jobs/queue.ts'
import type { Subscription } from './jobs/worker.ts'
import type { Vault } from './lib/secrets.ts'
import type { Log } from './log.ts'
import type { Mailer } from './mail/mailer.ts'
import type { Blobs } from './store/blobs/blobs.ts'
import type { Db, Events, Row, Store } from './store/database.ts'

export interface App {
  readonly config: Config
  /** The address users see, without a slash at its end. */
  readonly url: string
  readonly clock: Clock
  readonly log: Log
  readonly store: Store
  /** The store's database, or the transaction this work is part of. */
  readonly db: Db
  readonly onCommit: (react: () => void) => void
  readonly jobs: { wake(): void }
  readonly blobs: Blobs
  readonly mail: Mailer
  readonly vault: Vault
}

export type User = Row<'users'>

/** Background work: the payload holds ids, the handler reads fresh state and bears being run twice. */
export const job = <P>(
  name: string,
  handle: (app: App, payload: P) => Promise<void>,
  { every }: { every?: number } = {},
): Job<App, P> => ({ name, handle, ...(every !== undefined && { every }) })

/** A family's reaction to another family's event: `on('user.created', 'welcome', async (app, { id }) => …)` */
export const on = <E extends keyof Events>(
  event: E,
  subscriber: string,
  handle: (app: App, payload: Events[E]) => Promise<void>,
): Subscription<App> => ({ name: `${event} → ${subscriber}`, event, handle })
