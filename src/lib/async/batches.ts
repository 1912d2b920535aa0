/** Splits a list into batches of the size that one query, or one process, takes. */
export function* batchesOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size)
}
