import { access } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { castFor, groupOf, projectIn } from '../../../../test/groups.ts'
import { timestamp, type Clock } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { removeGroups } from './removal.ts'

const PATH = '/groups'

/** A group with a subgroup, a project in each, and a project of another group that is shared with the subgroup. */
async function plant(forge: TestForge) {
  const top = await groupOf(forge, 'tools', { visibility: 'public' })
  const child = await groupOf(forge, 'saws', { parent_id: top.id, visibility: 'public' })
  const projects = [
    await projectIn(forge, top, 'drill', { visibility: 'public' }),
    await projectIn(forge, child, 'fret', { visibility: 'public' }),
  ]
  const lender = await groupOf(forge, 'lender')
  const lent = await projectIn(forge, lender, 'ladder')
  const borrower = await forge.user()
  const now = timestamp(forge.clock)
  const link = { project_id: lent.id, group_id: child.id, group_access: 30, expires_at: null }
  await forge.app.db
    .insertInto('project_shares')
    .values({ ...link, created_at: now, updated_at: now })
    .execute()
  await addMember(forge, { group_id: top.id }, borrower.id, 30)
  return { top, child, projects, lender, lent, borrower }
}

const remains = async ({ app }: TestForge) => ({
  groups: (
    await app.db.selectFrom('namespaces').select('path').where('kind', '=', 'group').orderBy('id').execute()
  ).map(({ path }) => path),
  projects: (await app.db.selectFrom('projects').select('path').orderBy('id').execute()).map(({ path }) => path),
})

test('a deleted group is gone for everybody at once, with all that is in it', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const { top, child, projects, lent, borrower } = await plant(forge)
  expect((await borrower.get(`/projects/${lent.id}`)).status).toBe(200)
  await forge.settle()
  await forge.stopWorker()
  const events = (await forge.events()).length
  const { status, body } = await administrator.delete(`${PATH}/tools`)
  expect([status, body]).toEqual([204, ''])
  expect((await forge.events()).slice(events)).toEqual(['group.deleted'])

  const gone = [
    `${PATH}/${top.id}`,
    `${PATH}/tools`,
    `${PATH}/${child.id}`,
    `${PATH}/tools%2Fsaws/projects`,
    ...projects.map(({ id }) => `/projects/${id}`),
    '/projects/tools%2Fsaws%2Ffret',
  ]
  for (const path of gone) expect([path, (await administrator.get(path)).status]).toEqual([path, 404])
  expect((await administrator.get(PATH)).body.map((one: { path: string }) => one.path)).toEqual(['lender'])
  expect((await administrator.get('/projects')).body.map((one: { path: string }) => one.path)).toEqual(['ladder'])
  expect((await administrator.get(`${PATH}/lender`)).body.projects[0].shared_with_groups).toEqual([])
  // Members of the group lose access to projects shared with it.
  expect((await borrower.get(`/projects/${lent.id}`)).status).toBe(404)
  expect((await borrower.get(PATH)).body).toEqual([])
  expect((await administrator.delete(`${PATH}/${top.id}`)).status).toBe(404)
  expect((await administrator.post(PATH, { name: 'x', path: 'x', parent_id: child.id })).status).toBe(404)
  expect((await administrator.post('/projects', { path: 'x', namespace_id: child.id })).status).toBe(400)

  // The path stays taken until the rows are deleted.
  expect(await administrator.post(PATH, { name: 'Tools', path: 'Tools' })).toMatchObject({
    status: 400,
    body: { message: { path: ['has already been taken'] } },
  })
})

test('what was in it goes in the background, rows and repositories', async () => {
  await using forge = await startForge()
  const { top } = await plant(forge)
  const rows = await forge.app.db.selectFrom('projects').selectAll().execute()
  expect((await forge.administrator.delete(`${PATH}/${top.id}`)).status).toBe(204)
  await forge.settle()
  expect(await remains(forge)).toEqual({ groups: ['lender'], projects: ['ladder'] })
  for (const row of rows) {
    const exists = await access(repositoryDir(forge.app, row)).then(
      () => true,
      () => false,
    )
    expect([row.path, exists]).toEqual([row.path, row.path === 'ladder'])
  }
  expect((await forge.administrator.post(PATH, { name: 'Tools', path: 'Tools' })).status).toBe(201)
})

/**
 * A clock that throws after a number of calls, so that the job dies in the middle of its work, like a killed process.
 */
const mortal = (clock: Clock, looks: number): Clock => ({
  now() {
    if (looks-- <= 0) throw new Error('killed')
    return clock.now()
  },
})

test('removal that was killed goes on where it broke off, however often', async () => {
  await using forge = await startForge()
  const { app, administrator } = forge
  const { top, child } = await plant(forge)
  for (let n = 0; n < 4; n++) await projectIn(forge, n % 2 ? top : child, `more-${n}`)
  await forge.stopWorker()
  await administrator.delete(`${PATH}/${top.id}`)

  let deaths = 0
  const left: number[] = []
  for (;;) {
    const worker = { ...app, clock: mortal(app.clock, 6) }
    const finished = await removeGroups.handle(worker, { id: top.id }).then(
      () => true,
      () => false,
    )
    left.push((await remains(forge)).projects.length)
    if (finished) break
    deaths++
    expect(deaths).toBeLessThan(20)
  }
  expect(deaths).toBeGreaterThan(2)
  expect(left).toEqual(left.toSorted((a, b) => b - a))
  expect(await remains(forge)).toEqual({ groups: ['lender'], projects: ['ladder'] })
  await removeGroups.handle(app, { id: top.id })
  const repositories = await app.db
    .selectFrom('jobs')
    .select('payload')
    .where('name', '=', 'projects.remove_repository')
    .execute()
  // The repository and the wiki of each project.
  expect(new Set(repositories.map(({ payload }) => payload)).size).toBe(12)
})

test('a group that changed since is not deleted', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const group = await groupOf(forge, 'tools')
  const before = [await remains(forge), await forge.events()]
  const since = (ms: number) => ({ 'If-Unmodified-Since': new Date(Date.now() + ms).toUTCString() })
  expect(await administrator.delete(`${PATH}/${group.id}`, undefined, since(-60_000))).toMatchObject({
    status: 412,
    body: { message: '412 Precondition Failed' },
  })
  expect([await remains(forge), await forge.events()]).toEqual(before)
  expect((await administrator.delete(`${PATH}/${group.id}`, undefined, since(60_000))).status).toBe(204)
})

test('who deletes a group', async () => {
  await using forge = await startForge()
  const tables = [
    ['private', { stranger: 404, external: 404 }],
    ['internal', { stranger: 403, external: 404 }],
    ['public', { stranger: 403, external: 403 }],
  ] as const
  const members = { guest: 403, reporter: 403, developer: 403, master: 403 }
  for (const [visibility, outsiders] of tables) {
    const group = await groupOf(forge, `${visibility}-1`, { visibility })
    const cast = await castFor(forge, group.id)
    const before = [await remains(forge), await forge.events()]
    const refused = { anonymous: 401, blocked: 401, ...outsiders, ...members }
    for (const [who, status] of Object.entries(refused)) {
      const answer = await cast[who as keyof typeof refused].delete(`${PATH}/${group.id}`)
      expect([visibility, who, answer.status]).toEqual([visibility, who, status])
    }
    expect([await remains(forge), await forge.events()]).toEqual(before)
    expect((await cast.owner.delete(`${PATH}/${group.id}`)).status).toBe(204)
    const another = await groupOf(forge, `${visibility}-2`, { visibility })
    expect((await cast.administrator.delete(`${PATH}/${another.id}`)).status).toBe(204)
    await forge.settle()
    expect((await remains(forge)).groups).toEqual([])
  }
})

test('groups deleted while others are created in them leave nothing behind', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const top = await groupOf(forge, 'tools')
  const child = await groupOf(forge, 'saws', { parent_id: top.id })
  const answers = await Promise.all([
    ...Array.from({ length: 3 }, (_, n) =>
      administrator.post(PATH, { name: `a${n}`, path: `a${n}`, parent_id: child.id }),
    ),
    administrator.delete(`${PATH}/${top.id}`),
    administrator.delete(`${PATH}/${top.id}`),
    administrator.delete(`${PATH}/${child.id}`),
    ...Array.from({ length: 3 }, (_, n) =>
      administrator.post(PATH, { name: `b${n}`, path: `b${n}`, parent_id: child.id }),
    ),
  ])
  expect(answers.every(({ status }) => [201, 204, 404].includes(status))).toBe(true)
  await forge.settle()
  expect((await remains(forge)).groups).toEqual([])
})

test('every project that goes with its group is told of once', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const { top, projects } = await plant(forge)
  await forge.settle()
  const resting = await forge.app.db
    .selectFrom('events')
    .select((eb) => eb.fn.max('id').as('id'))
    .executeTakeFirst()
  await administrator.delete(`/projects/${projects[0]!.id}`)
  await administrator.delete(`${PATH}/${top.id}`)
  await forge.settle()
  const events = await forge.app.db
    .selectFrom('events')
    .select('payload')
    .where('name', '=', 'project.deleted')
    .where('id', '>', resting!.id)
    .execute()
  const ids = events.map(({ payload }) => (JSON.parse(payload) as { id: number }).id)
  expect(ids.toSorted((a, b) => a - b)).toEqual(projects.map(({ id }) => id).toSorted((a, b) => a - b))
})
