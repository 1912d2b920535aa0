import type { Log } from '../log.ts'

/** An unhandled rejection is a bug, but no reason to end the process and all other work. */
export function outlive(log: Log): void {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'))
}
