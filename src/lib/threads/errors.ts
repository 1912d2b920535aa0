/** The task passed its deadline, or needed more memory than a thread has. A retry would fail too. */
export class OutOfTime extends Error {
  override name = 'OutOfTime'
}

/** The caller, or all callers together, have too many tasks. A retry later may succeed. */
export class PoolFull extends Error {
  override name = 'PoolFull'
}
