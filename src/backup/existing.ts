/** The store of an instance without the rest of the program, and without applying migrations. */
import { CannotStart, type Config } from '../config.ts'
import type { Store } from '../store/database.ts'
import { isMigrated } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import { reasonOf } from '../store/reason.ts'
import { assertInstance, fileOf } from './open.ts'

export async function openExisting(
  config: Config,
  { readOnly = false } = {},
): Promise<AsyncDisposable & { store: Store }> {
  assertInstance(config)
  const url = config.databaseUrl ?? fileOf(config)!
  const options = { durable: true, shared: true, poolSize: 2, readOnly }
  const store = await openStore(url, options).catch(cannotUse)
  await using stack = new AsyncDisposableStack()
  stack.defer(() => store.close())
  if (!(await isMigrated(store).catch(cannotUse))) throw new CannotStart(`${config.data} holds no instance`)
  stack.move()
  return { store, [Symbol.asyncDispose]: () => store.close() }
}

export function cannotUse(cause: unknown): never {
  throw new CannotStart(`the database cannot be used: ${reasonOf(cause)}`, { cause })
}
