/** The thread that searches where it may take long; whoever started it ends it by its deadline. */
import { parentPort } from 'node:worker_threads'
import { searchTexts, type Search } from './pattern-search.ts'

parentPort!.on('message', (asked: Search | 'ready?') => {
  parentPort!.postMessage(asked === 'ready?' ? 'ready' : searchTexts(asked))
})
