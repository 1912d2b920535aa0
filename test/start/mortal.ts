/**
 * The command that dies at a step named by a request: `X-Die: before <pattern>` kills it before a statement that
 * matches the pattern, `X-Die: after <pattern>` once that statement is committed. Only statements of the request itself
 * count; with `X-Die: anyone before …`, statements of anybody from then on. Statements are matched with their values,
 * as `update … ["merged",7]`.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Server } from 'node:http'
import Database from 'better-sqlite3'
import pg from 'pg'

interface Fate {
  readonly when: 'before' | 'after'
  readonly pattern: RegExp
  /** The statement has run; the process dies with the commit. */
  isSealed: boolean
}

const fates = new AsyncLocalStorage<Fate>()
let fateOfAll: Fate | undefined

type Emit = (this: Server, name: string, ...values: unknown[]) => boolean
const emit = Server.prototype.emit as Emit
const mortalEmit: Emit = function (...event) {
  const [name, request] = event
  const headers = name === 'request' ? (request as { headers: Record<string, string> }).headers : {}
  const [, anyone, when, pattern] = /^(anyone )?(before|after) (.+)$/.exec(headers['x-die'] ?? '') ?? []
  if (!pattern) return emit.apply(this, event)
  const fate = { when: when as Fate['when'], pattern: new RegExp(pattern), isSealed: false }
  if (anyone) fateOfAll = fate
  return fates.run(fate, () => emit.apply(this, event))
}
Server.prototype.emit = mortalEmit as typeof Server.prototype.emit

/** SIGKILL arrives a little later: nothing may run until then. */
function die(): never {
  process.kill(process.pid, 'SIGKILL')
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** Returns a function to call once the statement is done. */
function meet(sql: string, values: readonly unknown[], isInTransaction: () => boolean): () => void {
  const fate = fates.getStore() ?? fateOfAll
  if (!fate) return () => {}
  if (!/^(select|begin)/i.test(sql) && fate.pattern.test(`${sql} ${JSON.stringify(values)}`)) {
    if (fate.when === 'before') die()
    fate.isSealed = true
  }
  return () => {
    if (fate.isSealed && !isInTransaction()) die()
  }
}

const { prepare } = Database.prototype
Database.prototype.prepare = function (this: Database.Database, sql: string) {
  const statement = prepare.call(this, sql)
  for (const name of ['run', 'all'] as const) {
    const work = statement[name] as (...values: unknown[]) => unknown
    const mortal = (...values: unknown[]) => {
      const done = meet(sql, values, () => this.inTransaction)
      const result = work.apply(statement, values)
      done()
      return result
    }
    Object.defineProperty(statement, name, { value: mortal })
  }
  return statement
} as typeof prepare

const inTransaction = new WeakSet<object>()
type Query = (this: pg.Client, asked: string | pg.QueryConfig, ...rest: unknown[]) => Promise<unknown> | undefined
const query = pg.Client.prototype.query as unknown as Query
const mortalQuery: Query = function (asked, ...rest) {
  const { text, values = [] } = typeof asked === 'string' ? { text: asked } : asked
  const proceed = meet(text, values, () => inTransaction.has(this))
  const answer = query.call(this, asked, ...rest)
  if (/^begin/i.test(text)) inTransaction.add(this)
  const follow = async (answered: Promise<unknown>) => {
    const result = await answered
    if (/^(commit|rollback)/i.test(text)) inTransaction.delete(this)
    proceed()
    return result
  }
  return answer && follow(answer)
}
pg.Client.prototype.query = mortalQuery as unknown as typeof pg.Client.prototype.query

await import('../../bin/mortise.js' as string)
