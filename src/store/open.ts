/** Opens the engine that an address names; only that one is loaded. */
import type { Store, StoreOptions } from './database.ts'

export async function openStore(url: string, options: StoreOptions): Promise<Store> {
  if (/^postgres(ql)?:/.test(url)) {
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(url, options)
  }
  const { openSqlite } = await import('./sqlite.ts')
  return openSqlite(url.replace(/^sqlite:/, ''), options)
}
