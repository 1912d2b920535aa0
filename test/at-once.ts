import { vi } from 'vitest'
import type { Reply, TestForge } from '../src/forge.ts'

/**
 * Runs calls in parallel. Each is held where its first transaction begins until all have got there, or one has ended: all
 * have read by then, and none has written. On both stores what they do next rests on their guards alone. Answers come by
 * their status.
 */
export async function atOnce({ app: { db } }: TestForge, ...calls: (() => Promise<Reply>)[]): Promise<Reply[]> {
  const barrier = Promise.withResolvers<void>()
  const transaction = db.transaction.bind(db)
  let waiting = 0
  const held = vi.spyOn(db, 'transaction').mockImplementation(() => {
    const builder = transaction()
    const execute = builder.execute.bind(builder)
    builder.execute = async (body) => {
      if (++waiting === calls.length) barrier.resolve()
      await barrier.promise
      return execute(body)
    }
    return builder
  })
  try {
    const answers = await Promise.all(calls.map((call) => call().finally(barrier.resolve)))
    return answers.toSorted((one, other) => one.status - other.status)
  } finally {
    held.mockRestore()
  }
}
