import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../forge.ts'
import { drain } from './draining.ts'

const ISSUES = 1500
const NOTES = 700

/** A project with many issues, the first of which has many notes. */
async function large(forge: TestForge) {
  const { db } = forge.app
  const project = await forge.project()
  const { id } = await forge.issue(project)
  await forge.note({ project_id: project.id, iid: 1 })
  const { id: _, ...issue } = await db.selectFrom('issues').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const { id: __, ...note } = await db
    .selectFrom('notes')
    .selectAll()
    .where('issue_id', '=', id)
    .executeTakeFirstOrThrow()
  for (let n = 2; n <= ISSUES; n += 100)
    await db
      .insertInto('issues')
      .values(Array.from({ length: Math.min(100, ISSUES - n + 1) }, (_, m) => ({ ...issue, iid: n + m })))
      .execute()
  for (let n = 1; n < NOTES; n += 100)
    await db
      .insertInto('notes')
      .values(Array.from({ length: 100 }, () => note))
      .execute()
  return { project, issue: { id, project_id: project.id, iid: 1 } }
}

const left = async ({ app }: TestForge, table: 'issues' | 'notes'): Promise<number> => {
  // The store answers synchronously; other work runs only this way.
  await setImmediate()
  const { count } = await app.db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The row counts of a table that other readers saw in the meantime. */
async function seenMeanwhile(
  forge: TestForge,
  table: 'issues' | 'notes',
  work: Promise<unknown>,
): Promise<Set<number>> {
  const seen = new Set<number>()
  let isOver = false
  const watching = (async () => {
    while (!isOver) seen.add(await left(forge, table))
  })()
  await work
  isOver = true
  await watching
  return seen
}

test('a large project is gone at once, and its rows go in steps that let others in', async () => {
  await using forge = await startForge()
  const { project } = await large(forge)
  const other = await forge.project()
  expect((await forge.administrator.delete(`/projects/${project.id}`)).status).toBeLessThan(300)
  expect((await forge.administrator.get(`/projects/${project.id}`)).status).toBe(404)
  expect((await forge.administrator.get('/issues', { scope: 'all' })).body).toEqual([])
  const seen = await seenMeanwhile(forge, 'issues', forge.settle())
  expect(seen.size).toBeGreaterThan(ISSUES / 100 / 2)
  expect([await left(forge, 'issues'), await left(forge, 'notes')]).toEqual([0, 0])
  expect((await forge.administrator.get(`/projects/${other.id}`)).status).toBe(200)
})

test('an issue with many notes', async () => {
  await using forge = await startForge()
  const { issue } = await large(forge)
  const deleting = forge.administrator.delete(`/projects/${issue.project_id}/issues/1`)
  const seen = await seenMeanwhile(forge, 'notes', deleting)
  expect([(await deleting).status, seen.size > 3]).toEqual([204, true])
  expect([await left(forge, 'issues'), await left(forge, 'notes')]).toEqual([ISSUES - 1, 0])
})

test('what was cut off is gone on with', async () => {
  await using forge = await startForge()
  const { project } = await large(forge)
  const cut = new AbortController()
  const draining = drain(forge.app, 'projects', project.id, { signal: cut.signal })
  while ((await left(forge, 'issues')) > ISSUES - 300);
  cut.abort(new Error('killed'))
  await expect(draining).rejects.toThrow('killed')
  expect(await left(forge, 'issues')).toBeGreaterThan(100)
  await drain(forge.app, 'projects', project.id)
  // A small number of rows is deleted by the cascade.
  expect(await left(forge, 'issues')).toBeLessThan(100)
})
