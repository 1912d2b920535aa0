import cluster from 'node:cluster'
import { run } from './cli/run.ts'

// Files created from here on, by git too, are readable only by their owner: repositories, blobs, the database, keys.
process.umask(0o077)

process.exitCode = cluster.isWorker
  ? await (await import('./cli/processes.ts')).runProcess()
  : await run(process.argv.slice(2))
