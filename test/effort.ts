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
