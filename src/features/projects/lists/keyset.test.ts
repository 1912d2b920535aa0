import { expect, test } from 'vitest'
import { groupOf } from '../../../../test/groups.ts'
import { projectBy } from '../../../../test/projects.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'

/** Follows the `next` links to the end. */
async function walk(forge: TestForge, caller: Client, query: Record<string, unknown>) {
  const pages: number[][] = []
  const links: string[] = []
  let answer = await caller.get('/projects', { pagination: 'keyset', ...query })
  for (;;) {
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-total')).toBeNull()
    pages.push(answer.body.map((one: { id: number }) => one.id))
    const next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
    if (!next) return { pages, links }
    links.push(next)
    answer = await caller.get(next.slice(`${forge.url}/api/v4`.length))
  }
}

test('pages by key come by every project once, in both directions', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const user = await forge.user()
  const group = await groupOf(forge, 'group', { visibility: 'public' })
  const ids: number[] = []
  for (let n = 0; n < 7; n++) {
    const place = n % 2 ? { namespace_id: group.id } : {}
    ids.push((await projectBy(root, `p${n}`, { visibility: n === 3 ? 'private' : 'public', ...place })).id)
  }
  const down = ids.toReversed()
  expect((await walk(forge, root, { per_page: 3, order_by: 'id' })).pages).toEqual([
    down.slice(0, 3),
    down.slice(3, 6),
    down.slice(6),
  ])
  expect((await walk(forge, root, { per_page: 7, sort: 'asc' })).pages).toEqual([ids])
  expect((await walk(forge, root, { per_page: 2, sort: 'asc' })).pages.flat()).toEqual(ids)
  const open = ids.filter((_, n) => n !== 3)
  expect((await walk(forge, user, { per_page: 2, sort: 'asc' })).pages.flat()).toEqual(open)
  expect((await walk(forge, forge.visitor, { per_page: 4 })).pages.flat()).toEqual(open.toReversed())
  // The caller's own bounds stay the same while the page's bound moves.
  expect((await walk(forge, root, { per_page: 2, id_after: ids[1], id_before: ids[6] })).pages.flat()).toEqual(
    ids.slice(2, 6).toReversed(),
  )
  const asc = { per_page: 2, sort: 'asc', id_after: ids[1], id_before: ids[6] }
  expect((await walk(forge, root, asc)).pages.flat()).toEqual(ids.slice(2, 6))
  expect((await walk(forge, root, { per_page: 2, id_before: 0 })).pages).toEqual([[]])
})

test('the link keeps the filters and leaves out secrets', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const { id: first } = await projectBy(user, 'p1')
  const { id: last } = await projectBy(user, 'p2')
  const anonymous = forge.as({})
  const query = { per_page: 1, search: 'p', simple: true, private_token: user.token, page: 3, owned: 'yes' }
  const { body, headers } = await anonymous.get('/projects', { pagination: 'keyset', ...query })
  expect(body.map((one: { id: number }) => one.id)).toEqual([last])
  const next = `id_before=${last}&owned=true&pagination=keyset&per_page=1&search=p&simple=true`
  expect(headers.get('link')).toBe(`<${forge.url}/api/v4/projects?${next}>; rel="next"`)
  const rest = await user.get(`/projects?${next}`)
  expect([rest.body.map((one: { id: number }) => one.id), rest.headers.get('link')]).toEqual([[first], null])

  const refused = await user.get('/projects', { pagination: 'keyset', order_by: 'name' })
  expect([refused.status, refused.body]).toEqual([
    405,
    { message: 'Keyset pagination is not yet available for this type of request' },
  ])
})
