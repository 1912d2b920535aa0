/** Runs in a thread of its own. */
import { parentPort } from 'node:worker_threads'
import { perform, type Task } from './tasks.ts'

parentPort!.on('message', (task: Task) => parentPort!.postMessage(perform(task)))
