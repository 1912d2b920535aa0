import cluster from 'node:cluster'
import { BACKUP_PROCESS } from './cli/continuous-backup.ts'
import { run } from './cli/run.ts'

// Files created from here on, by git too, are readable only by their owner: repositories, blobs, the database, keys.
process.umask(0o077)

process.exitCode = await start()

async function start(): Promise<number> {
  if (cluster.isWorker) return (await import('./cli/processes.ts')).runProcess()
  if (process.env[BACKUP_PROCESS] && process.send)
    return (await import('./cli/continuous-backup.ts')).runBackupProcess()
  return run(process.argv.slice(2))
}
