const last = new Map<string, Promise<void>>()

/** A mutex per key, in order of arrival. `work` gets whether it had to wait. */
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
