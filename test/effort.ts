/** What work costs this thread, in milliseconds: beside other programs it takes longer, but is no more. */
export function startEffort(): () => number {
  const before = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
}
