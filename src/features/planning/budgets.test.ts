/**
 * What frequent writes cost the store, with everything that follows. Whoever adds a query, a job or a transaction to one
 * of them notices here.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabaseUrl } from '../../config.ts'
import { startForge, type Person, type TestForge } from '../../forge.ts'
import type { Project } from '../../forge/types.ts'

let forge: TestForge
let owner: Person
let project: Project

beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user({ username: 'owner' })
  project = await forge.project({ path: 'here' }, owner)
  await forge.issue(project, {}, owner)
  await forge.settle()
})
afterAll(() => forge[Symbol.asyncDispose]())

/** The second time: the first fills caches. The idle looks of worker and deliverer are left out. */
async function costOf(write: () => Promise<{ status: number }>) {
  const measure = async (work: () => Promise<unknown>) => {
    const { store } = forge.app
    const [queries, transactions] = [store.queries, store.transactions]
    await work()
    await forge.settle()
    return { queries: store.queries - queries, transactions: store.transactions - transactions }
  }
  const answered = async () => expect((await write()).status).toBeLessThan(300)
  await measure(answered)
  const idle = await measure(async () => {})
  const cost = await measure(answered)
  return { queries: cost.queries - idle.queries, transactions: cost.transactions }
}

const TEXT = 'It does not work.\n\nOpen the page and press the **button**.'

/** PostgreSQL is also asked for events and jobs when a commit is announced, as often as the commits happen to meet. */
const ANNOUNCED = testDatabaseUrl() === undefined ? 0 : 15

test.each([
  ['an issue', () => owner.post(`/projects/${project.id}/issues`, { title: 'Broken', description: TEXT }), 33],
  ['a comment', () => owner.post(`/projects/${project.id}/issues/1/notes`, { body: TEXT }), 31],
  ['an edit', () => owner.put(`/projects/${project.id}/issues/1`, { title: `Title ${nextTitle()}` }), 33],
] as const)('%s costs three transactions and few queries', async (_what, write, most) => {
  const { queries, transactions } = await costOf(write)
  expect(transactions).toBe(3)
  expect(queries).toBeLessThanOrEqual(most + ANNOUNCED)
})

let titles = 0
const nextTitle = () => ++titles

test('a text with a mention is read once more, by the reactions that need it', async () => {
  const plain = await costOf(() => owner.post(`/projects/${project.id}/issues/1/notes`, { body: 'Nothing' }))
  const named = await costOf(() => owner.post(`/projects/${project.id}/issues/1/notes`, { body: 'See #1, @owner' }))
  expect(named.queries).toBeGreaterThan(plain.queries)
})
