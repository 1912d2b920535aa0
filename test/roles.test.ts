/**
 * Permissions of every endpoint: the rows of the families' `cases.ts`, ten callers on a private, a public and an
 * internal group with a project. A new endpoint without a case fails. Every rejection and every read is also checked to
 * have written nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabaseUrl } from '../src/config.ts'
import { startForge } from '../src/forge.ts'
import type { Visibility } from '../src/lib/levels.ts'
import { addressOf, call, inputOf, setStage, type Case, type Row, type Stage } from './cases.ts'
import { CALLERS, type CallerName } from './cast.ts'
import { cases, families, nameOf, v4 } from './endpoints.ts'
import { watchTables } from './watch.ts'

test('every endpoint has a case, and every case an endpoint', () => {
  const asked = cases.map(({ name }) => name)
  expect(asked.filter((name, n) => asked.indexOf(name) !== n)).toEqual([])
  const plain = cases.filter(({ name, endpoint }) => name === endpoint)
  expect(plain.map(({ name }) => name).toSorted()).toEqual(v4.map(nameOf).toSorted())
  const known = new Set(v4.map(nameOf))
  expect(cases.filter(({ endpoint }) => !known.has(endpoint))).toEqual([])
})

test('of groups and projects, every caller has an answer on private and on public ones', () => {
  const ofTree = cases.filter(({ path }) => /^\/(groups|projects|users\/:user_id\/(starred_)?projects)\b/.test(path))
  for (const { name, rows } of ofTree) {
    const answered = { private: Object.keys(rows.private ?? {}), public: Object.keys(rows.public ?? {}) }
    expect({ name, ...answered }).toEqual({ name, private: CALLERS, public: CALLERS })
  }
})

/**
 * An internal group is like a public one for signed-in users, and like a private one for visitors and external users.
 * Members were tested before: only callers who depend on visibility are tested again.
 */
function internalOf({ rows }: Case): Row | undefined {
  if (!rows.private || !rows.public) return undefined
  const { anonymous, external } = rows.private
  return { anonymous: anonymous!, external: external!, stranger: rows.public.stranger! }
}

const ROWS: [Visibility, (one: Case) => Row | undefined][] = [
  ['private', ({ rows }) => rows.private ?? rows.instance],
  ['public', ({ rows }) => rows.public],
  ['internal', internalOf],
]

/** On PostgreSQL the private group and project have to do: visibility is decided by the same code on both stores. */
const ASKED = ROWS.slice(0, testDatabaseUrl() === undefined ? 3 : 1)

/** The answers for each caller of a row, and the tables that were written although nobody was allowed to write. */
async function askRow(s: Stage, written: () => Promise<string[]>, asked: Case, row: Row) {
  const callers = CALLERS.filter((caller) => caller in row)
  const isHarmless = (caller: CallerName) => asked.method === 'GET' || row[caller]! >= 300
  const prepare = async (caller: CallerName) => {
    const who = s.cast.people[caller === 'anonymous' ? 'owner' : caller]
    return [await addressOf(asked, s, who), await inputOf(asked, s)] as const
  }
  // Records are shared by all callers, until one of them may have used them up.
  let shared: ReturnType<typeof prepare> | undefined
  const preparedFor = (caller: CallerName) => (asked.own ? prepare(caller) : (shared ??= prepare(caller)))
  const codes: Row = {}
  const ask = async (caller: CallerName, [address, input]: Awaited<ReturnType<typeof prepare>>) => {
    codes[caller] = (await call(s.cast.callers[caller], asked.method, address, input)).status
  }

  const harmless = callers.filter(isHarmless)
  const prepared = await Promise.all(harmless.map(preparedFor))
  await written()
  await Promise.all(harmless.map((caller, n) => ask(caller, prepared[n]!)))
  const moved = await written()
  for (const caller of callers.filter((one) => !isHarmless(one))) {
    await ask(caller, await preparedFor(caller))
    shared = undefined
  }
  return { codes, moved }
}

describe.each(ASKED)('on a %s group and project', (visibility, rowOf) => {
  let stage: Stage
  let written: () => Promise<string[]>
  beforeAll(async () => {
    const forge = await startForge()
    await forge.stopWorker()
    stage = await setStage(forge, visibility)
    written = await watchTables(forge)
  })
  afterAll(() => stage.forge[Symbol.asyncDispose]())
  const lineOf = (row: Row) => CALLERS.map((caller) => row[caller] ?? '').join(' ')
  const tables = families.filter(({ cases }) => cases.some(rowOf))

  test.each(tables)(
    '$name: each caller is answered as its table says, and a refusal moves nothing',
    async ({ cases }) => {
      const expected: Record<string, string> = {}
      const answers: Record<string, string> = {}
      const moved: Record<string, string[]> = {}
      for (const one of cases) {
        const row = rowOf(one)
        if (!row) continue
        const answer = await askRow(stage, written, one, row)
        expected[one.name] = lineOf(row)
        answers[one.name] = lineOf(answer.codes)
        if (answer.moved.length > 0) moved[one.name] = answer.moved
      }
      expect({ answers, moved }).toEqual({ answers: expected, moved: {} })
    },
  )
})
