/**
 * Read-only mode (`--read-only`): the one rule for which requests are refused. A request that is not a read is refused
 * before anything else happens, unless its endpoint or route is declared with `readsOnly`.
 */
import type { App } from '../context.ts'
import { readOnlyInstance } from '../errors.ts'

interface Declared {
  readonly method: string
  readonly readsOnly?: boolean | undefined
}

const READS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

export const isWrite = ({ method, readsOnly = false }: Declared): boolean => !READS.includes(method) && !readsOnly

export function assertNotReadOnly({ config }: Pick<App, 'config'>, declared: Declared): void {
  if (config.readOnly && isWrite(declared)) throw readOnlyInstance()
}
