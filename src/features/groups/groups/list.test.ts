import { expect, test } from 'vitest'
import { CALLERS, addMember } from '../../../../test/cast.ts'
import { castFor, groupOf, projectIn } from '../../../../test/groups.ts'
import { testDatabaseUrl } from '../../../config.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { pageOfGroups } from './lists.ts'

const PATH = '/groups'
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const pathsOf = async (
  caller: Client,
  filter: Record<string, unknown> = {},
  path = PATH,
): Promise<string[] | number> => {
  const { status, body } = await caller.get(path, { per_page: 100, ...filter })
  return status === 200 ? body.map((one: { path: string }) => one.path) : status
}

test('the whole record, found by a search too, and statistics for administrators', async () => {
  await using forge = await startForge()
  const { administrator, url } = forge
  const jane = await forge.user()
  const { body: group } = await jane.post(PATH, { name: 'Power Tools', path: 'tools', description: 'Loud' })
  const record = {
    id: group.id,
    name: 'Power Tools',
    path: 'tools',
    description: 'Loud',
    visibility: 'private',
    avatar_url: null,
    web_url: `${url}/groups/tools`,
    request_access_enabled: false,
    full_name: 'Power Tools',
    full_path: 'tools',
    parent_id: null,
    created_at: timestamp,
    share_with_group_lock: false,
    membership_lock: false,
    lfs_enabled: true,
    project_creation_level: 'maintainer',
    subgroup_creation_level: 'owner',
    require_two_factor_authentication: false,
    two_factor_grace_period: 48,
    emails_disabled: false,
    emails_enabled: true,
    auto_devops_enabled: null,
    marked_for_deletion_on: null,
  }
  expect((await jane.get(PATH)).body).toEqual([record])
  expect((await jane.get(PATH, { search: 'tool' })).body).toEqual([record])

  const { id } = await projectIn(forge, group, 'saw')
  const { db } = forge.app
  const sizes = { repository_size: 5, lfs_objects_size: 7 }
  await db.updateTable('projects').set(sizes).where('id', '=', id).execute()
  await db.insertInto('ci_artifacts_facets').values({ project_id: id, total: 11 }).execute()
  await projectIn(forge, group, 'drill')
  const complete = { ...record, statistics: { storage_size: 23, ...sizes, job_artifacts_size: 11 } }
  expect((await administrator.get(PATH, { statistics: true })).body).toEqual([complete])
  expect((await jane.get(PATH, { statistics: true })).body).toEqual([record])
})

test('who is listed what', async () => {
  await using forge = await startForge()
  const groups = []
  for (const [path, visibility] of [
    ['closed', 'private'],
    ['house', 'internal'],
    ['open', 'public'],
  ] as const) {
    groups.push(await groupOf(forge, path, { visibility }))
  }
  const cast = await castFor(forge, ...groups.map(({ id }) => id))
  const all = ['closed', 'house', 'open']
  const table: [Record<string, unknown>, unknown[]][] = [
    [{}, [['open'], [], [], all, all, all, all, all, all, 401]],
    [{ all_available: true }, [['open'], ['house', 'open'], ['open'], all, all, all, all, all, all, 401]],
    [{ all_available: false }, [['open'], [], [], all, all, all, all, all, all, 401]],
    [{ owned: true }, [[], [], [], [], [], [], [], all, all, 401]],
    [{ min_access_level: 30 }, [[], [], [], [], [], all, all, all, all, 401]],
    [{ min_access_level: 50 }, [[], [], [], [], [], [], [], all, all, 401]],
    [{ min_access_level: 99_999_999_999 }, [[], [], [], [], [], [], [], [], [], 401]],
  ]
  for (const [filter, expected] of table) {
    const seen = await Promise.all(CALLERS.map((caller) => pathsOf(cast[caller], filter)))
    expect(seen, JSON.stringify(filter)).toEqual(expected)
  }
  await forge.administrator.post(PATH, { name: 'n', path: 'n' })
  expect(await pathsOf(await forge.user({ admin: true }), { all_available: false })).toEqual([])
})

test('one’s groups are those above, below and around what one belongs to', async () => {
  await using forge = await startForge()
  const top = await groupOf(forge, 'top')
  const middle = await groupOf(forge, 'middle', { parent_id: top.id })
  await groupOf(forge, 'bottom', { parent_id: middle.id })
  const beside = await groupOf(forge, 'beside', { parent_id: top.id })
  const project = await projectIn(forge, beside, 'saw')
  const [jane, john] = [await forge.user(), await forge.user()]
  await addMember(forge, { group_id: middle.id }, jane.id, 10)
  await addMember(forge, { project_id: project.id }, john.id, 10)
  expect(await pathsOf(jane)).toEqual(['bottom', 'middle', 'top'])
  expect(await pathsOf(john)).toEqual(['beside', 'top'])
  expect(await pathsOf(jane, { min_access_level: 10 })).toEqual(['bottom', 'middle'])
  expect(await pathsOf(jane, { top_level_only: true })).toEqual(['top'])
  expect(await pathsOf(forge.administrator, { top_level_only: true, skip_groups: [top.id] })).toEqual([])
})

test('search finds any part of a name or a path; order, sort and filters do as they say', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const made: [name: string, path: string][] = [
    ['beta', 'z1'],
    ['Alpha', 'y2'],
    ['alpha', 'x_3'],
    ['Gamma 100', 'A4'],
    ['Äon', 'w5'],
  ]
  const ids: number[] = []
  for (const [name, path] of made) ids.push((await groupOf(forge, path, { name, visibility: 'internal' })).id)
  await forge.user({ username: 'alphabet' })
  const listed = (filter: Record<string, unknown>) => pathsOf(administrator, filter)
  expect(await listed({})).toEqual(['y2', 'x_3', 'z1', 'A4', 'w5'])
  expect(await listed({ sort: 'desc' })).toEqual(['w5', 'A4', 'z1', 'x_3', 'y2'])
  expect(await listed({ order_by: 'path' })).toEqual(['A4', 'w5', 'x_3', 'y2', 'z1'])
  expect(await listed({ order_by: 'id', sort: 'desc' })).toEqual(['w5', 'A4', 'x_3', 'y2', 'z1'])
  expect(await listed({ order_by: 'similarity', search: 'alpha' })).toEqual(['y2', 'x_3'])

  expect(await listed({ search: 'ALPH' })).toEqual(['y2', 'x_3'])
  expect(await listed({ search: 'a4' })).toEqual(['A4'])
  for (const search of ['Ä', 'Äo', 'Äon', 'äON']) expect([search, await listed({ search })]).toEqual([search, ['w5']])
  expect(await listed({ search: '_' })).toEqual(['x_3'])
  expect(await listed({ search: '%' })).toEqual([])
  expect(await listed({ search: 'a"4' })).toEqual([])
  expect(await listed({ search: 'ma 1' })).toEqual(['A4'])
  expect(await listed({ search: ' ' })).toHaveLength(5)
  expect((await administrator.get(PATH, { search: 'alph', per_page: 1 })).headers.get('X-Total')).toBe('2')

  expect(await listed({ skip_groups: ids.slice(0, 2) })).toEqual(['x_3', 'A4', 'w5'])
  expect(await pathsOf(administrator, {}, `${PATH}?skip_groups=${ids[0]},${ids[3]}`)).toEqual(['y2', 'x_3', 'w5'])
  expect(await listed({ visibility: 'internal' })).toHaveLength(5)
  expect(await listed({ visibility: 'public' })).toEqual([])
})

test.each([
  [{ order_by: 'size' }, 'order_by does not have a valid value'],
  [{ sort: 'up' }, 'sort does not have a valid value'],
  [{ owned: 'perhaps' }, 'owned is invalid'],
  [{ skip_groups: 'x' }, 'skip_groups is invalid'],
  [{ min_access_level: 'x' }, 'min_access_level is invalid'],
])('refuses %j', async (input, error) => {
  await using forge = await startForge()
  expect(await forge.visitor.get(PATH, input)).toMatchObject({ status: 400, body: { error } })
})

test('totals follow every change that alters them', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user()
  const total = async (filter: Record<string, unknown> = {}) =>
    Number((await jane.get(PATH, filter)).headers.get('X-Total'))
  const group = await groupOf(forge, 'tools', { visibility: 'public' })
  expect([await total(), await total({ all_available: true }), await total({ search: 'to' })]).toEqual([0, 1, 0])

  await addMember(forge, { group_id: group.id }, jane.id, 10)
  expect([await total(), await total({ all_available: true }), await total({ search: 'to' })]).toEqual([1, 1, 1])
  await groupOf(forge, 'hammers', { parent_id: group.id })
  expect([await total(), await total({ all_available: true })]).toEqual([2, 2])
  await administrator.put(`${PATH}/${group.id}`, { visibility: 'private' })
  expect([await total({ visibility: 'public' }), await total({ all_available: true })]).toEqual([0, 2])
  await administrator.put(`${PATH}/${group.id}`, { name: 'x', path: 'x' })
  expect([await total(), await total({ all_available: true }), await total({ search: 'to' })]).toEqual([2, 2, 0])
  const around = await groupOf(forge, 'around')
  const { id } = await projectIn(forge, around, 'saw')
  await addMember(forge, { project_id: id }, jane.id, 10)
  expect([await total(), (await jane.get(`${PATH}/around`)).status]).toEqual([3, 200])
  await forge.stopWorker()
  await administrator.delete(`/projects/${id}`)
  expect([await total(), (await jane.get(`${PATH}/around`)).status]).toEqual([2, 404])
  await administrator.delete(`${PATH}/${group.id}`)
  expect([await total(), await total({ all_available: true })]).toEqual([0, 0])
})

test('subgroups are those directly inside, descendants all below, as far as they are seen', async () => {
  await using forge = await startForge()
  const top = await groupOf(forge, 'top', { visibility: 'public' })
  const open = await groupOf(forge, 'open', { parent_id: top.id, visibility: 'public' })
  const hidden = await groupOf(forge, 'hidden', { parent_id: top.id, visibility: 'private' })
  await groupOf(forge, 'deep', { parent_id: open.id, visibility: 'internal' })
  const cast = await castFor(forge, hidden.id)
  const direct = `${PATH}/${top.id}/subgroups`
  const below = `${PATH}/${top.id}/descendant_groups`
  const [some, all] = [
    ['hidden', 'open'],
    ['deep', 'hidden', 'open'],
  ]
  const table: [string, Record<string, unknown>, unknown[]][] = [
    [direct, {}, [['open'], [], [], ...Array(5).fill(['hidden']), some, 401]],
    [direct, { all_available: true }, [['open'], ['open'], ['open'], ...Array(6).fill(some), 401]],
    [below, { all_available: true }, [['open'], ['deep', 'open'], ['open'], ...Array(6).fill(all), 401]],
    [`${PATH}/${hidden.id}/subgroups`, {}, [404, 404, 404, ...Array(6).fill([]), 401]],
    [`${PATH}/${hidden.id}/descendant_groups`, {}, [404, 404, 404, ...Array(6).fill([]), 401]],
  ]
  for (const [path, filter, expected] of table) {
    const seen = await Promise.all(CALLERS.map((caller) => pathsOf(cast[caller], filter, path)))
    expect(seen, path + JSON.stringify(filter)).toEqual(expected)
  }
  expect(await pathsOf(cast.administrator, { search: 'ee' }, below)).toEqual(['deep'])
  expect((await cast.administrator.get(direct)).body[0]).toMatchObject({ full_path: 'top/hidden', lfs_enabled: true })
})

/** The least of three runs: the idle worker and the short-lived settings cache sometimes add queries. */
async function costOf(forge: TestForge, work: () => Promise<unknown>): Promise<number> {
  const costs = [await forge.queries(work), await forge.queries(work), await forge.queries(work)]
  return Math.min(...costs)
}

test('lists are in pages and cost the same whatever their length', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user()
  const top = await groupOf(forge, 'top', { visibility: 'public' })
  const add = async (n: number) => {
    const { id } = await groupOf(forge, `g${n}`, { parent_id: top.id, visibility: 'public' })
    await addMember(forge, { group_id: id }, jane.id, 10)
    await projectIn(forge, { id }, `p${n}`)
  }
  for (let n = 10; n < 12; n++) await add(n)
  const lists: [Client, string][] = [
    [administrator, PATH],
    [administrator, `${PATH}?statistics=true`],
    [jane, PATH],
    [jane, `${PATH}?all_available=true`],
    [jane, `${PATH}?search=g1`],
    [forge.visitor, PATH],
    [jane, `${PATH}/top/subgroups`],
    [jane, `${PATH}/top/descendant_groups`],
    [jane, `${PATH}/top/projects?include_subgroups=true`],
  ]
  const costs = async () => {
    const all: number[] = []
    for (const [caller, path] of lists) all.push(await costOf(forge, () => caller.get(path)))
    return all
  }
  const few = await costs()
  for (let n = 12; n < 22; n++) await add(n)
  expect(await costs()).toEqual(few)

  const page = await jane.get(`${PATH}/top/subgroups`, { per_page: 5, page: 3 })
  expect(page.body.map((one: { path: string }) => one.path)).toEqual(['g20', 'g21'])
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'x-total': '12',
    'x-total-pages': '3',
    'x-prev-page': '2',
    'x-next-page': '',
  })
  expect((await jane.get(PATH, { page: 9 })).body).toEqual([])
})

test.runIf(!testDatabaseUrl())('long lists are walked in their order, short ones gathered by their ids', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const plan = async (filter: Partial<Parameters<typeof pageOfGroups>[1]>) => {
    const page = pageOfGroups.compile(db, { ...filter, limit: 20, offset: 0 })
    const { rows } = await db.executeQuery<{ detail: string }>({ ...page, sql: `explain query plan ${page.sql}` })
    return rows.map(({ detail }) => detail)
  }
  const walk = 'SEARCH namespaces USING INDEX namespaces_by_name (kind=?)'
  expect(await plan({ walked: true })).toEqual([walk])
  expect(await plan({ public_too: true, internal_too: true, 'by name desc': true, walked: true })).toEqual([walk])
  expect(await plan({ like: '%x%' })).toEqual([walk])
  expect((await plan({ of_user: 1, public_too: true, walked: true }))[0]).toBe(walk)
  const byId = 'SEARCH namespaces USING INTEGER PRIMARY KEY (rowid=?)'
  for (const filter of [{ of_user: 1 }, { owner: 1 }, { ancestor: 1 }, { like: '%xyz%', substring: '"xyz"' }]) {
    expect((await plan(filter))[0], JSON.stringify(filter)).toBe(byId)
  }
})
