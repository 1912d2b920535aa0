/** A location without a database, for tests of the schema. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { testDatabaseUrl } from '../src/config.ts'
import { makeTemporaryFolder } from '../src/lib/files/temporary-folder.ts'
import type { Store } from '../src/store/database.ts'
import { openStore } from '../src/store/open.ts'
import { openSqlite } from '../src/store/sqlite.ts'
import { postgresDatabase } from '../src/store/temporary.ts'

const OPTIONS = { durable: false, shared: true, poolSize: 2 }

export interface EmptyDatabase extends AsyncDisposable {
  /** As a starting process opens it. */
  open(): Promise<Store>
  /** Without the image that SQLite would use. */
  openEmpty(): Promise<Store>
}

/** The stores that were opened are closed with it. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  const stores: Store[] = []
  const kept = (store: Store) => {
    stores.push(store)
    return store
  }
  const close = () => Promise.all(stores.map((store) => store.close()))
  const server = testDatabaseUrl()
  if (server) {
    const { url, drop } = await postgresDatabase(server)
    const open = async () => kept(await openStore(url, OPTIONS))
    return { open, openEmpty: open, [Symbol.asyncDispose]: () => close().then(drop) }
  }
  const folder = await makeTemporaryFolder()
  const file = join(folder, 'mortise.sqlite')
  return {
    open: async () => kept(await openStore(file, OPTIONS)),
    openEmpty: async () => kept(openSqlite(file, OPTIONS)),
    [Symbol.asyncDispose]: () => close().then(() => rm(folder, { recursive: true })),
  }
}
