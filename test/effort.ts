/** What work costs this thread, in milliseconds: beside other programs it takes longer, but is no more. */
export function startEffort(): () => number {
  const before = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
}

/** The longest that this thread was busy without a break while the work went on, in milliseconds of its own effort. */
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

/** Noise of the measurement, and work too short to tell. */
const SLACK = 20

/** How many times the effort twice the length takes: 2 if it grows with the length, 4 if with its square. */
export function growth(work: (text: string) => unknown, piece: string, length = 100_000): number {
  const effort = (length: number) => {
    const text = piece.repeat(length / piece.length)
    const stop = startEffort()
    work(text)
    return stop() + SLACK
  }
  effort(length / 10)
  // Once disturbed by others, it is measured again.
  return Math.min(...[1, 2].map(() => effort(2 * length) / effort(length)))
}
