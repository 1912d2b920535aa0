import cluster from 'node:cluster'
import { run } from './cli/run.ts'

process.exitCode = cluster.isWorker
  ? await (await import('./cli/processes.ts')).runProcess()
  : await run(process.argv.slice(2))
