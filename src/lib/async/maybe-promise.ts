/**
 * A value that may be available synchronously. Awaiting an available value costs a tick at every level it passes
 * through, which is noticeable for a short answer.
 */
export type MaybePromise<T> = T | Promise<T>

export const andThen = <T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  value instanceof Promise ? value.then(use) : use(value)

/** Turns a synchronous throw of `work` into a rejected promise, so that all errors are caught in one place. */
export function attempt<T>(work: () => MaybePromise<T>): MaybePromise<T> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error as Error)
  }
}
