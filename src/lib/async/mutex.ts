const last = new Map<string, Promise<void>>()

/** One at a time for each key, in the order they came. `work` hears whether it had to wait. */
export async function withMutex<T>(key: string, work: (hasWaited: boolean) => Promise<T>): Promise<T> {
  const before = last.get(key)
  const { promise, resolve } = Promise.withResolvers<void>()
  last.set(key, promise)
  try {
    await before
    return await work(before !== undefined)
  } finally {
    resolve()
    if (last.get(key) === promise) last.delete(key)
  }
}
