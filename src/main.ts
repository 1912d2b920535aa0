import cluster from 'node:cluster'
import { run } from './cli/run.ts'

// Whatever is made from here on, by git too, is its owner's alone: repositories, blobs, the database, keys.
process.umask(0o077)

process.exitCode = cluster.isWorker
  ? await (await import('./cli/processes.ts')).runProcess()
  : await run(process.argv.slice(2))
