/** The thread that searches where it may take long; whoever started it ends it by its deadline. */
import { parentPort } from 'node:worker_threads'
import { searchTexts, type Search } from './pattern-search.ts'

// Without a parent it is only loaded, to be compiled before it is needed.
parentPort?.on('message', (asked: Search | 'ready?') => {
  parentPort?.postMessage(asked === 'ready?' ? 'ready' : searchTexts(asked))
})
