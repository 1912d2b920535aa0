/**
 * Many concurrent users: nobody is rejected because of another user's work, and derived data agrees with stored data.
 */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { refreshAuthorizations } from '../src/features/access/authorizations/service.ts'
import { startForge, type Person, type TestForge } from '../src/forge.ts'
import { transact } from '../src/store/transact.ts'

const ROUNDS = 12
const PEOPLE = 6

async function facetsOf({ app }: TestForge) {
  const kinds = sql.raw('visibility, archived, deleting, issues_access_level, merge_requests_access_level')
  const kept = await sql<object>`select ${kinds}, cast(sum(total) as bigint) as total from projects_facets
    group by ${kinds} having sum(total) <> 0 order by ${kinds}`.execute(app.db)
  const counted = await sql<object>`select ${kinds}, count(*) as total from projects
    group by ${kinds} order by ${kinds}`.execute(app.db)
  return { kept: kept.rows, counted: counted.rows }
}

const authorizationsOf = ({ app }: TestForge) =>
  app.db.selectFrom('project_authorizations').selectAll().orderBy('user_id').orderBy('project_id').execute()

test('work on the same groups and projects side by side', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const people = await Promise.all(Array.from({ length: PEOPLE }, () => forge.user()))
  const groups = await Promise.all(
    ['one', 'two'].map(
      async (name) => (await root.post('/groups', { name, path: name, visibility: 'public' })).body.id,
    ),
  )
  const projects = await Promise.all(
    Array.from({ length: 4 }, async (_, n) => {
      const input = { name: `p${n}`, namespace_id: groups[n % 2], visibility: 'public' }
      return (await root.post('/projects', input)).body.id
    }),
  )
  const of = <T>(list: readonly T[], n: number): T => list[n % list.length]!
  const one = async (person: Person, n: number) => [
    root.put(`/projects/${of(projects, n)}`, { visibility: n % 2 ? 'private' : 'public' }),
    person.post('/projects', { name: `own${n}` }).then(({ body }) => person.delete(`/projects/${body.id}`)),
    root.post(`/projects/${of(projects, n)}/share`, { group_id: of(groups, n + 1), group_access: 30 }),
    root.delete(`/projects/${of(projects, n + 1)}/share/${of(groups, n)}`),
    person.post(`/projects/${of(projects, n)}/star`),
    root.post(`/groups/${of(groups, n)}/members`, { user_id: person.id, access_level: 30 }),
    root.delete(`/groups/${of(groups, n + 1)}/members/${person.id}`),
    root.post(`/groups/${of(groups, n)}/projects/${of(projects, n)}`),
    root.put(`/groups/${of(groups, n)}`, { share_with_group_lock: n % 3 === 0 }),
    root.post(`/projects/${of(projects, n)}/archive`),
    root.post(`/projects/${of(projects, n + 2)}/unarchive`),
  ]
  const failed: unknown[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const calls = await Promise.all(people.map((person, n) => one(person, round + n)))
    for (const { status, body } of await Promise.all(calls.flat())) if (status >= 500) failed.push(body)
  }
  expect(failed).toEqual([])
  await forge.settle()

  const { kept, counted } = await facetsOf(forge)
  expect(kept).toEqual(counted)
  const derived = await authorizationsOf(forge)
  for (const project of projects) await transact(forge.app, (app) => refreshAuthorizations(app, { project }))
  expect(await authorizationsOf(forge)).toEqual(derived)
})
