/**
 * A value that may be here already. To await one that is costs a turn at every level it is handed through, which a
 * short answer notices.
 */
export type MaybePromise<T> = T | Promise<T>

export const andThen = <T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  value instanceof Promise ? value.then(use) : use(value)

/** What `work` throws at once is thrown like what it throws later, so that it is caught in one place. */
export function attempt<T>(work: () => MaybePromise<T>): MaybePromise<T> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error as Error)
  }
}
