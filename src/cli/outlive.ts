import type { Log } from '../log.ts'

/** What fails and nobody waits for is a fault of ours, and no reason to end what all others are doing. */
export function outlive(log: Log): void {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'nobody waited for what failed'))
}
