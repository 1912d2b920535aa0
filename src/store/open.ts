/** Opens the database that a URL names, and loads only its driver. */
import type { Store, StoreOptions } from './database.ts'
import { writeImage } from './ready-schema.ts'

export async function openStore(url: string, options: StoreOptions): Promise<Store> {
  if (/^postgres(ql)?:/.test(url)) {
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(url, options)
  }
  const file = url.replace(/^sqlite:/, '')
  const created = options.readOnly ? null : writeImage(file, options)
  const [{ openSqlite }] = await Promise.all([import('./sqlite.ts'), created])
  return openSqlite(file, options)
}
