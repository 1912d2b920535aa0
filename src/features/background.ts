/** All background work: jobs by name and reactions to events, one line per family. */
import type { App } from '../context.ts'
import type { Job } from '../jobs/queue.ts'
import type { Subscription } from '../jobs/worker.ts'

// oxlint-disable-next-line no-explicit-any -- the queue holds jobs of every payload
export const jobs: Job<App, any>[] = []

export const subscriptions: Subscription<App>[] = []
