import { expect, test } from 'vitest'
import { CALLERS } from '../../../../test/cast.ts'
import { castFor, groupOf, projectIn } from '../../../../test/groups.ts'
import { projectBy } from '../../../../test/projects.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'

const namesOf = async (caller: Client, filter: object = {}, path = '/projects'): Promise<string> => {
  const { status, body, headers } = await caller.get(path, { order_by: 'name', sort: 'asc', per_page: 100, ...filter })
  if (status !== 200) return String(status)
  expect(headers.get('x-total')).toBe(String(body.length))
  return body.map((one: { name: string }) => one.name).join(' ')
}

test('everybody lists what they see, of all and of one user', async () => {
  await using forge = await startForge()
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, tools.id)
  for (const visibility of ['public', 'internal', 'private']) {
    await projectIn(forge, tools, `${visibility}-tool`, { visibility })
    await projectBy(cast.stranger, `${visibility}-own`, { visibility })
  }
  const seen: Record<string, string> = {}
  const ofStranger: Record<string, string> = {}
  for (const caller of CALLERS) {
    seen[caller] = await namesOf(cast[caller])
    ofStranger[caller] = await namesOf(cast[caller], {}, `/users/${cast.stranger.username}/projects`)
  }
  const member = 'internal-own internal-tool private-tool public-own public-tool'
  expect(seen).toEqual({
    anonymous: 'public-own public-tool',
    stranger: 'internal-own internal-tool private-own public-own public-tool',
    external: 'public-own public-tool',
    guest: member,
    reporter: member,
    developer: member,
    master: member,
    owner: member,
    administrator: 'internal-own internal-tool private-own private-tool public-own public-tool',
    blocked: '401',
  })
  const signedIn = 'internal-own public-own'
  expect(ofStranger).toEqual({
    anonymous: 'public-own',
    stranger: 'internal-own private-own public-own',
    external: 'public-own',
    guest: signedIn,
    reporter: signedIn,
    developer: signedIn,
    master: signedIn,
    owner: signedIn,
    administrator: 'internal-own private-own public-own',
    blocked: '401',
  })
  const { guest, administrator: root, anonymous, stranger } = cast
  expect(await namesOf(anonymous, { visibility: 'private' })).toBe('')
  expect(await namesOf(guest, { visibility: 'private' })).toBe('private-tool')
  expect(await namesOf(root, { visibility: 'private' })).toBe('private-own private-tool')
  // An anonymous visitor has no projects, so these filters do not apply.
  for (const mine of ['owned', 'membership', 'starred']) {
    expect(await namesOf(anonymous, { [mine]: true })).toBe('public-own public-tool')
  }
  expect(await namesOf(guest, { membership: true })).toBe('internal-tool private-tool public-tool')
  expect(await namesOf(guest, { min_access_level: 20 })).toBe('')
  expect(await namesOf(guest, { owned: true })).toBe('')
  expect(await namesOf(cast.owner, { owned: true })).toBe('internal-tool private-tool public-tool')
  expect(await namesOf(stranger, { owned: true, visibility: 'private' })).toBe('private-own')
  expect(await namesOf(root, {}, `/users/${stranger.id}/projects?search=tool`)).toBe('')
  expect(await namesOf(root, {}, `/users/${stranger.id}/projects?search=LIC-O`)).toBe('public-own')
  expect(await namesOf(root, {}, '/users/4711/projects')).toBe('404')
  expect(await namesOf(root, {}, '/users/no.body/projects')).toBe('404')
  const [{ id }] = (await root.get('/projects', { search: 'public-own' })).body
  await root.post(`/projects/${id}/archive`)
  expect(await namesOf(anonymous, { active: true })).toBe('public-tool')
  expect(await namesOf(anonymous, { active: false })).toBe('public-own')
  expect(await namesOf(anonymous, { active: false, archived: false })).toBe('public-own')
})

test('totals are right after every kind of change', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const user = await forge.user()
  const other = await forge.user()
  const group = await groupOf(forge, 'group', { visibility: 'public' })
  const shared = await groupOf(forge, 'shared')
  await root.post(`/groups/${shared.id}/members`, { user_id: other.id, access_level: 30 })
  const first = await projectBy(user, 'first', { topics: ['t'] })
  await projectBy(user, 'second')
  const tool = await projectIn(forge, group, 'tool')

  const filters = [
    {},
    { search: 'irs' },
    { search: 'ne' },
    { topic: 't' },
    { starred: true },
    { membership: true },
    { owned: true },
    { visibility: 'private' },
    { archived: true },
    { with_issues_enabled: true },
    { min_access_level: 30 },
  ]
  const counts = async (caller: Client) => {
    const all: number[] = []
    for (const filter of filters) {
      const { body, headers } = await caller.get('/projects', filter)
      expect(Number(headers.get('x-total')), JSON.stringify(filter)).toBe(body.length)
      all.push(body.length)
    }
    return all
  }
  const everybody = async () => [await counts(user), await counts(other), await counts(forge.visitor)]
  const changes: [string, () => Promise<{ status: number }>][] = [
    ['a name and a path', () => user.put(`/projects/${first.id}`, { name: 'renamed', path: 'renamed' })],
    ['a wider visibility', () => user.put(`/projects/${first.id}`, { visibility: 'public' })],
    ['topics', () => user.put(`/projects/${first.id}`, { topics: ['other'] })],
    ['a feature', () => user.put(`/projects/${first.id}`, { issues_enabled: false })],
    ['a star', () => other.post(`/projects/${first.id}/star`)],
    ['no star', () => other.post(`/projects/${first.id}/unstar`)],
    ['a membership', () => root.post(`/projects/${tool.id}/members`, { user_id: other.id, access_level: 20 })],
    ['a higher level', () => root.put(`/projects/${tool.id}/members/${other.id}`, { access_level: 40 })],
    ['no membership', () => root.delete(`/projects/${tool.id}/members/${other.id}`)],
    ['a member of a group', () => root.post(`/groups/${group.id}/members`, { user_id: other.id, access_level: 50 })],
    ['no member of a group', () => root.delete(`/groups/${group.id}/members/${other.id}`)],
    ['a share', () => root.post(`/projects/${tool.id}/share`, { group_id: shared.id, group_access: 30 })],
    ['a lock', () => root.put(`/groups/${group.id}`, { share_with_group_lock: true })],
    ['no lock', () => root.put(`/groups/${group.id}`, { share_with_group_lock: false })],
    ['no share', () => root.delete(`/projects/${tool.id}/share/${shared.id}`)],
    ['the archive', () => user.post(`/projects/${first.id}/archive`)],
    ['out of the archive', () => user.post(`/projects/${first.id}/unarchive`)],
    ['a transfer', () => root.post(`/groups/${group.id}/projects/${first.id}`)],
    ['a new project', () => user.post('/projects', { path: 'third' })],
    ['the end of one', () => user.delete('/projects/user1%2Fsecond')],
  ]
  let before = await everybody()
  for (const [what, change] of changes) {
    expect((await change()).status, what).toBeLessThan(300)
    const after = await everybody()
    expect(after, what).not.toEqual(before)
    before = after
  }
})

test('pages: headers, the last page, beyond the end, and no secrets in the links', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  for (let n = 0; n < 5; n++) await projectBy(user, `p${n}`)
  const page = async (number: number) => {
    const { body, headers } = await user.get(`/projects?private_token=${user.token}&page=${number}`, {
      per_page: 2,
      search: 'p',
      order_by: 'path',
    })
    const link = (headers.get('link') ?? '')
      .split(', ')
      .map((one) => /page=(\d+).*rel="(\w+)"/.exec(one)!.slice(1).join(' '))
    expect(headers.get('link')).not.toContain(user.token)
    const names = ['x-total', 'x-total-pages', 'x-per-page', 'x-page', 'x-next-page', 'x-prev-page']
    return [body.map((one: { path: string }) => one.path), names.map((name) => headers.get(name)), link]
  }
  expect(await page(1)).toEqual([
    ['p4', 'p3'],
    ['5', '3', '2', '1', '2', ''],
    ['2 next', '1 first', '3 last'],
  ])
  expect(await page(3)).toEqual([['p0'], ['5', '3', '2', '3', '', '2'], ['2 prev', '1 first', '3 last']])
  expect(await page(9)).toEqual([[], ['5', '3', '2', '9', '', ''], ['1 first', '3 last']])
  const head = await user.head('/projects')
  expect([head.status, head.headers.get('x-total'), head.body]).toEqual([200, '5', ''])
})

test('odd values are refused or mean nothing, and never break', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  for (const name of ['a_b', 'Größe', '😀😀']) await projectBy(user, `p-${Math.random()}`, { name, topics: [name] })
  const list = async (query: string) => {
    const { status, body } = await user.get(`/projects?${query}`)
    return status === 200 ? body.length : [status, body.error]
  }
  const table: [string, unknown][] = [
    ['id_after=1e30', [400, 'id_after is invalid']],
    ['id_after=99999999999999999999', [400, 'id_after is invalid']],
    ['id_after=999999999999999', 0],
    ['id_after=-999999999999999', 3],
    ['id_after=0', 3],
    ['id_before=0', 0],
    ['id_after=', 3],
    ['min_access_level=-999999999999999', 3],
    ['min_access_level=999999999999999', 0],
    ['min_access_level=0', 3],
    ['min_access_level=x', [400, 'min_access_level is invalid']],
    ['order_by=id;drop', [400, 'order_by does not have a valid value']],
    ['order_by[]=id', [400, 'order_by does not have a valid value']],
    ['order_by=star_count', [400, 'order_by does not have a valid value']],
    ['sort=', [400, 'sort does not have a valid value']],
    ['sort=DESC', [400, 'sort does not have a valid value']],
    ['visibility=0', [400, 'visibility does not have a valid value']],
    ['archived=perhaps', [400, 'archived is invalid']],
    ['search[]=a', [400, 'search is invalid']],
    ['search[a]=b', [400, 'search is invalid']],
    ['search=a%00b', [400, 'search is invalid']],
    ['search=%FF', [400, '400 Bad Request']],
    ['search=', 3],
    ['search=%20%20', 3],
    ['search=_', 1],
    ['search=%25', 0],
    ['search=%5C', 0],
    ['search=%27', 0],
    ['search=%22', 0],
    ['search=%22%22%22', 0],
    ['search=a_b', 1],
    ['search=a%25b', 0],
    ['search=Gr%C3%B6%C3%9Fe', 1],
    ['search=r%C3%B6', 1],
    ['search=%F0%9F%98%80%F0%9F%98%80', 1],
    ['search=%F0%9F%98%80', 1],
    [`search=${'a'.repeat(3000)}`, 0],
    ['topic=Gr%C3%B6%C3%9Fe', 1],
    ['topic=A_B', 1],
    ['topic=%F0%9F%98%80%F0%9F%98%80', 1],
    ['topic=nothing', 0],
    ['last_activity_after=soon', [400, 'last_activity_after is invalid']],
    ['last_activity_after=9999-01-01', 0],
    ['page=999999999999999', 0],
    ['per_page=0', 3],
    ['per_page=-1&page=-1', 3],
    ['statistics=true&simple=false&with_issues_enabled=0', 3],
  ]
  for (const [query, expected] of table) expect(await list(query), query).toEqual(expected)
})

test('a page costs the same number of queries however many projects there are', async () => {
  await using forge = await startForge()
  const { administrator: root, app } = forge
  const owner = await forge.user()
  const group = await groupOf(forge, 'group', { visibility: 'public' })
  const grow = async (from: number, to: number) => {
    for (let n = from; n < to; n++) {
      const place = n % 2 ? { namespace_id: group.id } : {}
      const { id } = await projectBy(root, `p${n}`, { visibility: 'public', topics: [`t${n}`], ...place })
      await root.post(`/projects/${id}/share`, { group_id: (await aGroup(forge)).id, group_access: 10 })
      await app.db
        .updateTable('projects')
        .set({ forked_from_id: id - 1 || null })
        .where('id', '=', id)
        .execute()
    }
  }
  const callers: Client[] = [forge.visitor, owner, root]
  const paths = ['/projects', '/projects?search=p', '/projects?pagination=keyset', `/users/${root.id}/projects`]
  const cost = async () => {
    const costs: number[] = []
    for (const caller of callers) {
      for (const path of paths)
        costs.push(await forge.queries(() => caller.get(path, { per_page: 100, statistics: true })))
    }
    return costs
  }
  await grow(0, 4)
  const few = await cost()
  await grow(4, 40)
  expect(await cost()).toEqual(few)
})

let groups = 0
const aGroup = (forge: TestForge) => groupOf(forge, `g${++groups}`)
