/**
 * Read-only mode: the store refuses every write that this list does not name. The list has what signing in needs, and
 * the registry of processes. A write that was forgotten elsewhere fails instead of changing data.
 */
import { readOnlyInstance } from '../errors.ts'

const ALLOWED: ReadonlySet<string> = new Set([
  ...everyWrite('sessions'),
  // Limits of password guesses, and challenges that may be used once.
  ...everyWrite('throttles'),
  ...everyWrite('user_addresses'),
  ...everyWrite('oauth_grants'),
  ...everyWrite('oauth_tokens'),
  // A code is accepted once.
  'update second_factors',
  'delete recovery_codes',
  'update passkeys',
  ...everyWrite('processes'),
])

function everyWrite(table: string): string[] {
  return ['insert', 'update', 'delete'].map((verb) => `${verb} ${table}`)
}

const WRITE = /^\s*(insert|update|delete)\s+(?:(?:into|from)\s+)?"?(\w+)"?/i

/** For a statement that writes. Anything but a plain write to one of the tables is refused. */
export function assertWriteAllowed(sql: string): void {
  const [, verb = '', table = ''] = WRITE.exec(sql) ?? []
  if (!ALLOWED.has(`${verb.toLowerCase()} ${table}`)) throw readOnlyInstance()
}

const READ = /^\s*(select|show|begin|commit|rollback|savepoint|release|set)\b/i
const READ_WITH = /^\s*with\b/i
const WRITE_INSIDE = /\b(insert\s+into|delete\s+from|merge\s+into|update\s+\S+\s+set)\b/i

/** For an engine that does not tell by itself. Values are parameters, so the text is ours alone. */
export const isReadStatement = (sql: string): boolean =>
  READ.test(sql) || (READ_WITH.test(sql) && !WRITE_INSIDE.test(sql))
