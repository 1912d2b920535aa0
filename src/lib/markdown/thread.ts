/** Runs in a thread of its own. */
import { parentPort } from 'node:worker_threads'
import { perform, type Task } from './tasks.ts'

// Without a parent it is only loaded, to be compiled before it is needed.
parentPort?.on('message', (task: Task) => parentPort?.postMessage(perform(task)))
