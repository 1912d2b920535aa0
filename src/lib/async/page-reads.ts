/** A page makes many calls for one viewer; what several of them need is read once. */
export type PageReads = Map<string, Promise<unknown>>

/** The part of an app that this needs. */
interface Reader {
  readonly db: { readonly isTransaction: boolean }
  readonly pageReads?: PageReads | undefined
}

/**
 * `read` runs once for all calls of a page that give the same key; elsewhere it runs each time. The key names
 * everything that the result depends on, the viewer included. The result is shared, so nobody may change it. A
 * transaction reads for itself.
 */
export function oncePerPage<T>({ db, pageReads }: Reader, key: string, read: () => Promise<T>): Promise<T> {
  if (!pageReads || db.isTransaction) return read()
  const known = pageReads.get(key) as Promise<T> | undefined
  if (known) return known
  const result = read()
  pageReads.set(key, result)
  return result
}
