/** How many queries an answer may take. Each is a round trip to PostgreSQL: read together what an answer shows. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../src/forge.ts'
import type { Project } from '../src/forge/types.ts'
import type { Store } from '../src/store/database.ts'
import { openSecondStore } from './freshness.ts'

let forge: TestForge
let other: Store
let ann: Person
let bob: Person
let project: Project

beforeAll(async () => {
  forge = await startForge()
  other = await openSecondStore(forge)
  const { administrator: root } = forge
  const outer = await forge.group()
  const { id: namespace_id } = await forge.group({ parent_id: outer.id } as never)
  project = await forge.project({ namespace_id })
  const at = `/projects/${project.id}`
  ann = await forge.user({ username: 'ann' })
  bob = await forge.user({ username: 'bob' })
  for (const { id } of [ann, bob]) await root.post(`${at}/members`, { user_id: id, access_level: 40 })
  for (let n = 0; n < 20; n++) await root.post(`${at}/labels`, { name: `l${n}`, color: '#428BCA', priority: n })
  await root.post(`/groups/${outer.id}/labels`, { name: 'shared', color: '#00ff00' })
  const { id: milestone_id } = await forge.milestone(project)
  const dressed = (n: number) => ({ labels: `l${n},shared`, milestone_id, assignee_ids: [ann.id, bob.id] })
  const text = { description: 'As in #2 and !2, @bob' }
  for (let n = 0; n < 20; n++) await forge.issue(project, { ...text, ...dressed(n) } as never, ann)
  await root.post(`${at}/approval_rules`, { name: 'Two', approvals_required: 1, user_ids: [ann.id] })
  for (let n = 0; n < 20; n++)
    await forge.mergeRequest(project, { ...text, ...dressed(n), reviewer_ids: [bob.id] } as never, ann)
  for (const item of ['issues/1', 'merge_requests/1']) {
    for (const body of ['See #3', 'And !3 @ann']) await bob.post(`${at}/${item}/discussions`, { body })
    await ann.post(`${at}/${item}/award_emoji`, { name: 'thumbsup' })
  }
  await forge.settle()
}, 120_000)
afterAll(async () => {
  await other?.close()
  await forge?.close()
})

const called =
  (path: string, input: Record<string, unknown> = {}) =>
  async () => {
    expect((await ann.get(`/projects/${project.id}${path}`, input)).status).toBe(200)
  }

const shown = (path: string) => async () => {
  const headers = { Accept: 'text/html', 'PRIVATE-TOKEN': ann.token }
  const answer = await fetch(`${forge.url}/${project.path_with_namespace}${path}`, { headers })
  expect(answer.status).toBe(200)
  await answer.text()
}

const answers: [what: string, most: number, ask: () => Promise<void>][] = [
  ['an issue', 5, called('/issues/1')],
  ['a list of 20 issues', 9, called('/issues')],
  ['a merge request', 6, called('/merge_requests/1')],
  ['a list of 20 merge requests', 8, called('/merge_requests', { scope: 'all' })],
  ['a list of 20 labels', 4, called('/labels')],
  ['the page of an issue', 44, shown('/-/issues/1')],
  ['the page of a merge request', 58, shown('/-/merge_requests/1')],
  ['the changes of a merge request', 36, shown('/-/merge_requests/1/diffs')],
  ['the page of issues', 24, shown('/-/issues')],
  ['the home of a project', 16, shown('')],
]

/** Somebody else, who is shown everywhere, changes by another process: what depends on nothing else stays known. */
const changeSomeone = () =>
  other.db
    .updateTable('users')
    .set((eb) => ({ name: eb('name', '||', 'x') }))
    .where('id', '=', bob.id)
    .execute()

test.each(answers)('%s takes at most %i queries', async (_what, most, ask) => {
  let count = 0
  await forge.queries(async () => {
    for (let n = 0; n < 2; n++) await ask()
    await changeSomeone()
    const before = forge.app.store.queries
    await ask()
    count = forge.app.store.queries - before
  })
  expect(count).toBeLessThanOrEqual(most)
})
