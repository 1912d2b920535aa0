/** All background work: jobs by name and reactions to events, one line per family. */
import type { App } from '../context.ts'
import type { Job } from '../jobs/queue.ts'
import type { Subscription } from '../jobs/worker.ts'
import { answerPasswordWish, purge } from './identity/sessions/jobs.ts'
import { discardAvatar } from './identity/users/jobs.ts'
import { welcome } from './identity/users/on.ts'
import { sweep } from './instance/spool/jobs.ts'

// oxlint-disable-next-line no-explicit-any -- the queue holds jobs of every payload
export const jobs: Job<App, any>[] = [answerPasswordWish, purge, discardAvatar, sweep]

export const subscriptions: Subscription<App>[] = [welcome]
