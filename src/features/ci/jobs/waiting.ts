/** Who waits for jobs to be run is told when there are some. */
import type { App } from '../../../context.ts'

type Listener = () => void
const listeners = new Set<Listener>()

/** Until the answer is called. */
export function onWaitingJobs(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function wakeWaiting(): void {
  for (const listener of listeners) listener()
}

/** In the transaction that made them pending. */
export async function tellWaitingJobs(app: App): Promise<void> {
  app.onCommit(wakeWaiting)
}
