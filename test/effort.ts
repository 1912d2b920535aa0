/** CPU time of work on this thread in milliseconds: other load makes it take longer, but does not add to it. */
export function startEffort(): () => number {
  const before = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
}

/** The longest time that the thread was blocked while the work ran, in milliseconds of CPU time. */
export async function longestStall<T>(work: () => Promise<T>): Promise<{ answer: T; stall: number }> {
  let stall = 0
  let effort = startEffort()
  const look = () => {
    stall = Math.max(stall, effort())
    effort = startEffort()
  }
  const watch = setInterval(look, 1)
  try {
    const answer = await work()
    look()
    return { answer, stall }
  } finally {
    clearInterval(watch)
  }
}

/** Noise of the measurement, and work too short to measure. */
const SLACK = 20

/** The factor for twice the length: 2 for linear growth, 4 for quadratic. */
export function growth(work: (text: string) => unknown, piece: string, length = 100_000): number {
  const effort = (length: number) => {
    const text = piece.repeat(length / piece.length)
    const stop = startEffort()
    work(text)
    return stop() + SLACK
  }
  effort(length / 10)
  // Measured twice, in case of other load.
  return Math.min(...[1, 2].map(() => effort(2 * length) / effort(length)))
}
