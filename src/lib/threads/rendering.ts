/** The thread pool that renders texts and pages. */
import { availableParallelism } from 'node:os'
import { ThreadPool } from './pool.ts'

const THREADS = Math.min(Math.max(availableParallelism(), 2), 4)

export const rendering = new ThreadPool({
  threads: THREADS,
  perCaller: Math.floor(THREADS / 2),
  waitingPerCaller: 500,
  waitingInAll: 5000,
  patience: 10_000,
  idle: 5_000,
})
