/** It passed its deadline, or needed more memory than a thread has. It would again. */
export class OutOfTime extends Error {
  override name = 'OutOfTime'
}

/** The caller, or all callers together, have too many tasks. Later there may be room. */
export class PoolFull extends Error {
  override name = 'PoolFull'
}
