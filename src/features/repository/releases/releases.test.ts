import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { processesOf } from '../../../../test/git-builder.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const headers: unknown = expect.anything()
const refusal = (status: number, message: unknown) => ({ status, headers, body: { message } })

async function open(forge: TestForge, request: Record<string, unknown> = {}) {
  const source = await openSource(forge, 'projects', request)
  const dir = await fillProject(forge, source.id)
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  await git('tag', 'v1.0')
  const member = async (access_level: number) => {
    const person = await forge.user()
    await source.owner.post(`${source.url}/members`, { user_id: person.id, access_level })
    return person
  }
  const state = async () => ({
    refs: await git('for-each-ref'),
    releases: await forge.app.db.selectFrom('releases').selectAll().orderBy('id').execute(),
    links: await forge.app.db.selectFrom('release_links').selectAll().orderBy('id').execute(),
    events: await forge.events(),
  })
  return { ...source, git, member, state, releases: `${source.url}/releases` }
}

const tagsOf = ({ body }: { body: { tag_name: string }[] }) => body.map(({ tag_name }) => tag_name)

test('what a release says is rendered for those who ask', async () => {
  await using forge = await startForge()
  const { releases, owner } = await open(forge)
  await owner.post(releases, { tag_name: 'v1.0', description: '*First*' })
  const request = { include_html_description: true }
  const description_html = '<p><em>First</em></p>\n'
  expect((await owner.get(releases, request)).body).toMatchObject([{ description_html }])
  expect((await owner.get(`${releases}/v1.0`, request)).body).toMatchObject({ description_html })
  expect((await owner.get(`${releases}/v1.0`)).body).not.toHaveProperty('description_html')
})

test('a release is told whole', async () => {
  await using forge = await startForge()
  const { id, path, releases, owner, git } = await open(forge)
  const sha = await git('rev-parse', 'master')
  const request = {
    tag_name: 'v1.0',
    name: 'One',
    description: '*First*',
    released_at: '2020-01-02T03:04:05Z',
    assets: {
      links: [
        { name: 'Linux', url: 'https://files.example.org/linux', filepath: '/bin/linux-64', link_type: 'package' },
        { name: 'Notes', url: 'https://files.example.org/notes' },
      ],
    },
  }
  const { status, body } = await owner.post(releases, request)
  const api = `${forge.url}/api/v4/projects/${id}`
  expect([status, body]).toEqual([
    201,
    {
      tag_name: 'v1.0',
      name: 'One',
      description: '*First*',
      created_at: expect.any(String),
      released_at: '2020-01-02T03:04:05.000Z',
      upcoming_release: false,
      author: {
        id: owner.id,
        username: owner.username,
        name: expect.any(String),
        state: 'active',
        avatar_url: null,
        web_url: `${forge.url}/${owner.username}`,
      },
      commit: expect.objectContaining({ id: sha, web_url: `${forge.url}${path}/-/commit/${sha}` }),
      milestones: [],
      commit_path: `${path}/-/commit/${sha}`,
      tag_path: `${path}/-/tags/v1.0`,
      assets: {
        count: 6,
        sources: ['zip', 'tar.gz', 'tar.bz2', 'tar'].map((format) => ({
          format,
          url: `${api}/repository/archive.${format}?sha=v1.0`,
        })),
        links: [
          {
            id: expect.any(Number),
            name: 'Linux',
            url: 'https://files.example.org/linux',
            direct_asset_url: `${api}/releases/v1.0/downloads/bin/linux-64`,
            link_type: 'package',
          },
          {
            id: expect.any(Number),
            name: 'Notes',
            url: 'https://files.example.org/notes',
            direct_asset_url: 'https://files.example.org/notes',
            link_type: 'other',
          },
        ],
      },
      evidences: [],
      _links: {
        self: `${forge.url}${path}/-/releases/v1.0`,
        edit_url: `${forge.url}${path}/-/releases/v1.0/edit`,
      },
    },
  ])
  expect((await owner.get(`${releases}/v1.0`)).body).toEqual(body)
  expect((await owner.get(releases)).body).toEqual([body])
  const source = await fetch(body.assets.sources[0].url, { headers: owner.headers })
  expect(source.status).toBe(200)
  expect((await source.bytes()).length).toBeGreaterThan(100)
  const odd = await owner.post(releases, { tag_name: 'rel/#1&50%', ref: 'master' })
  expect(odd.body.tag_path).toBe(`${path}/-/tags/rel/%231%2650%25`)
  // A release stays without its tag.
  await git('tag', '-d', 'v1.0')
  expect((await owner.get(`${releases}/v1.0`)).body).toEqual(body)
})

test('a missing tag is made from a ref', async () => {
  await using forge = await startForge()
  const { releases, owner, git } = await open(forge)
  const request = { tag_name: 'v2/a.b', ref: 'master', tag_message: 'Two' }
  const made = await owner.post(releases, request)
  expect(made).toMatchObject({ status: 201, body: { tag_name: 'v2/a.b', name: 'v2/a.b', description: null } })
  expect(await git('cat-file', '-t', 'refs/tags/v2/a.b')).toBe('tag')
  expect(made.body.commit.id).toBe(await git('rev-parse', 'master'))
  expect((await owner.get(`${releases}/v2%2Fa.b`)).body).toEqual(made.body)
  expect((await forge.events()).slice(-2)).toEqual(['repository.changed', 'release.created'])
})

test('a release is changed and deleted; its tag stays', async () => {
  await using forge = await startForge()
  const { releases, owner, git } = await open(forge)
  await owner.post(releases, { tag_name: 'v1.0', name: 'One', description: 'x' })
  const later = new Date(Date.now() + DAY).toISOString()
  const changed = await owner.put(`${releases}/v1.0`, { name: '', released_at: later })
  expect(changed).toMatchObject({
    status: 200,
    body: { name: 'v1.0', description: 'x', released_at: later, upcoming_release: true },
  })
  expect((await owner.get(`${releases}/permalink/latest`)).status).toBe(404)
  forge.clock.advance(2 * DAY)
  const { body } = await owner.get(`${releases}/v1.0`)
  expect(body).toEqual({ ...changed.body, upcoming_release: false })
  expect(await owner.delete(`${releases}/v1.0`)).toEqual({ status: 200, headers, body })
  expect(await owner.get(`${releases}/v1.0`)).toEqual(refusal(404, '404 Not Found'))
  expect(await git('tag', '--list')).toBe('v1.0')
  expect((await forge.events()).slice(-3)).toEqual(['release.created', 'release.updated', 'release.deleted'])
})

test('what cannot be released is refused, and nothing moves', async () => {
  await using forge = await startForge()
  const { url, releases, owner, member, git, state } = await open(forge)
  await git('tag', 'kept')
  await git('tag', 'closed')
  await owner.post(releases, { tag_name: 'kept' })
  await owner.post(releases, { tag_name: 'closed', assets: { links: [{ name: 'a', url: 'https://a.example' }] } })
  await owner.post(`${url}/protected_tags`, { name: 'clo*' })
  const developer = await member(30)
  const before = await state()
  const link = (more: Record<string, unknown>) => ({
    assets: { links: [{ name: 'x', url: 'https://x.example', ...more }] },
  })
  const badUrl = { url: ['must be a valid URL: only http, https and ftp are allowed'] }
  const table: [Record<string, unknown>, number, unknown][] = [
    [{ tag_name: 'kept' }, 409, 'Release already exists'],
    [{ tag_name: 'none' }, 422, 'Ref is not specified'],
    [{ tag_name: 'none', ref: 'nothing' }, 400, 'Target nothing is invalid'],
    [{ tag_name: 'a..b', ref: 'master' }, 400, 'Tag name invalid'],
    [{ tag_name: 'closer', ref: 'master' }, 403, 'Access Denied'],
    [{ milestones: ['1.0', 'x'] }, 400, 'Milestone(s) not found: 1.0, x'],
    [{ name: 'x'.repeat(256) }, 400, { name: ['is too long (maximum is 255 characters)'] }],
    [{ description: 'x'.repeat(70_000) }, 400, { description: ['is too long (maximum is 65535 characters)'] }],
    [link({ url: 'javascript:alert(1)' }), 400, badUrl],
    [link({ url: 'nowhere' }), 400, badUrl],
    [
      link({ url: `https://x.example/${'x'.repeat(2048)}` }),
      400,
      { url: ['is too long (maximum is 2048 characters)'] },
    ],
    [link({ name: ' ' }), 400, { name: ["can't be blank"] }],
    [link({ name: 'x'.repeat(256) }), 400, { name: ['is too long (maximum is 255 characters)'] }],
    [link({ direct_asset_path: `/${'x'.repeat(128)}` }), 400, { filepath: ['is in an invalid format'] }],
    [link({ direct_asset_path: 'bin' }), 400, { filepath: ['is in an invalid format'] }],
    [link({ direct_asset_path: '/../x' }), 400, { filepath: ['is in an invalid format'] }],
    [{ tag_name: 'none', ref: 'master', ...link({ filepath: '//' }) }, 400, { filepath: ['is in an invalid format'] }],
  ]
  for (const [request, status, message] of table) {
    const answer = await developer.post(releases, { tag_name: 'v1.0', ...request })
    expect([request, answer.status, answer.body]).toEqual([request, status, { message }])
  }
  expect((await developer.post(releases, link({ link_type: 'song' }))).status).toBe(400)
  expect((await developer.post(releases, { tag_name: 'v1.0', ...link({ link_type: 'song' }) })).status).toBe(400)
  const twins = { links: [1, 2].map((n) => ({ name: 'same', url: `https://${n}.example` })) }
  expect(await developer.post(releases, { tag_name: 'none', ref: 'master', assets: twins })).toEqual(
    refusal(400, { name: ['has already been taken'] }),
  )
  const { id } = before.links[0]!
  const denied = refusal(403, 'Access Denied')
  expect(await developer.put(`${releases}/closed`, { name: 'x' })).toEqual(denied)
  expect(await developer.delete(`${releases}/closed`)).toEqual(denied)
  const closedLinks = `${releases}/closed/assets/links`
  expect(await developer.post(closedLinks, { name: 'b', url: 'https://b.example' })).toEqual(denied)
  expect(await developer.put(`${closedLinks}/${id}`, { name: 'b' })).toEqual(denied)
  expect(await developer.delete(`${closedLinks}/${id}`)).toEqual(denied)
  for (const verb of ['put', 'delete'] as const) {
    expect(await developer[verb](`${releases}/none`)).toEqual(refusal(404, '404 Not Found'))
  }
  expect(await state()).toEqual(before)
})

test('links come, change and go', async () => {
  await using forge = await startForge()
  const { releases, owner, id } = await open(forge)
  await owner.post(releases, { tag_name: 'v1.0' })
  const links = `${releases}/v1.0/assets/links`
  const made = await owner.post(links, { name: 'Tool', url: 'https://x.example/a b', direct_asset_path: '/bin/tool' })
  const record = {
    id: made.body.id,
    name: 'Tool',
    url: 'https://x.example/a b',
    direct_asset_url: `${forge.url}/api/v4/projects/${id}/releases/v1.0/downloads/bin/tool`,
    link_type: 'other',
  }
  expect(made).toEqual({ status: 201, headers, body: record })
  expect((await owner.get(`${links}/${record.id}`)).body).toEqual(record)
  expect((await owner.get(links)).body).toEqual([record])
  expect((await owner.get(links)).headers.get('x-total')).toBe('1')

  const gone = await owner.get(`${releases}/v1.0/downloads/bin/tool`)
  expect([gone.status, gone.headers.get('location')]).toEqual([302, 'https://x.example/a%20b'])
  const latest = await owner.get(`${releases}/permalink/latest`)
  const address = `${forge.url}/api/v4/projects/${id}/releases/v1.0`
  expect([latest.status, latest.headers.get('location')]).toEqual([302, address])
  const inLatest = await owner.get(`${releases}/permalink/latest/downloads/bin/tool`)
  expect([inLatest.status, inLatest.headers.get('location')]).toEqual([302, `${address}/downloads/bin/tool`])
  for (const path of ['v1.0/downloads/bin', 'v1.0/downloads/bin/tool/x', 'none/downloads/bin/tool']) {
    expect(await owner.get(`${releases}/${path}`)).toEqual(refusal(404, '404 Not Found'))
  }

  await owner.post(links, { name: 'Other', url: 'https://other.example' })
  expect(await owner.post(links, { name: 'New', url: 'https://other.example' })).toEqual(
    refusal(400, { url: ['has already been taken'] }),
  )
  expect(await owner.put(`${links}/${record.id}`, { name: 'Other' })).toEqual(
    refusal(400, { name: ['has already been taken'] }),
  )
  const changed = { ...record, name: 'Renamed', link_type: 'image', direct_asset_url: record.url }
  const request = { name: 'Renamed', link_type: 'image', direct_asset_path: '' }
  expect(await owner.put(`${links}/${record.id}`, request)).toEqual({ status: 200, headers, body: changed })
  expect((await owner.put(`${links}/${record.id}`, { url: 'https://new.example' })).body).toMatchObject({
    name: 'Renamed',
    url: 'https://new.example',
  })
  expect((await owner.put(`${links}/${record.id}`, {})).status).toBe(200)
  expect(await owner.delete(`${links}/${record.id}`)).toMatchObject({ status: 200, body: { name: 'Renamed' } })
  expect(await owner.get(`${links}/${record.id}`)).toEqual(refusal(404, '404 Not Found'))
  expect((await owner.get(`${releases}/v1.0`)).body.assets).toMatchObject({ count: 5, links: [{ name: 'Other' }] })
})

test('releases are ordered, filtered and paged, at one price', async () => {
  await using forge = await startForge()
  const { releases, owner, git } = await open(forge)
  const release = async (tag_name: string, day: number) => {
    await git('tag', tag_name)
    const links = [{ name: tag_name, url: `https://${tag_name}.example` }]
    await owner.post(releases, { tag_name, released_at: `2020-01-0${day}`, assets: { links } })
    forge.clock.advance(1000)
  }
  await release('a', 2)
  await release('b', 3)
  await release('c', 1)
  const list = (input?: Record<string, unknown>) => owner.get(releases, input)
  expect(tagsOf(await list())).toEqual(['b', 'a', 'c'])
  expect(tagsOf(await list({ sort: 'asc' }))).toEqual(['c', 'a', 'b'])
  expect(tagsOf(await list({ order_by: 'created_at' }))).toEqual(['c', 'b', 'a'])
  const second = await list({ per_page: 2, page: 2 })
  expect(tagsOf(second)).toEqual(['c'])
  expect(second.headers.get('x-total')).toBe('3')
  const since = (await owner.get(`${releases}/b`)).body.created_at
  expect(tagsOf(await list({ updated_after: since }))).toEqual(['b', 'c'])
  expect(tagsOf(await list({ updated_before: since }))).toEqual(['b', 'a'])
  expect((await list({ updated_after: 'yesterday' })).status).toBe(400)

  const [few, started] = [await costOf(forge, list), (await processesOf(list)).length]
  for (const tag of 'defghijk') await release(tag, 4)
  expect((await list()).body).toHaveLength(11)
  expect(await costOf(forge, list)).toBe(few)
  expect((await processesOf(list)).length).toBe(started)
})

test('readers read and developers write', async () => {
  await using forge = await startForge()
  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked. Callers who may
  // read the code get the 404 first; the table of roles covers write permissions.
  const tables = [
    ['private', [404, 404, 404, 403, 200, 200, 200, 200, 200, 401], [401, 404, 404, 403, 400, 400, 400, 400, 400, 401]],
    ['public', [200, 200, 200, 200, 200, 200, 200, 200, 200, 401], [401, 400, 400, 400, 400, 400, 400, 400, 400, 401]],
  ] as const
  for (const [visibility, reads, writes] of tables) {
    const source = await open(forge, { visibility })
    const { releases, owner } = source
    const callers = await callersOf(forge, source)
    await owner.post(releases, { tag_name: 'v1.0' })
    const path = `${releases}/v1.0`
    for (const address of [releases, path, `${path}/assets/links`]) {
      expect(await statusesOf(callers, (caller) => caller.get(address))).toEqual(reads)
    }
    const redirects = reads.map((status) => (status === 200 ? 302 : status))
    expect(await statusesOf(callers, (caller) => caller.get(`${releases}/permalink/latest`))).toEqual(redirects)
    expect(await statusesOf(callers, (caller) => caller.post(releases))).toEqual(writes)
    expect(await statusesOf(callers, (caller) => caller.post(`${path}/assets/links`))).toEqual(writes)
    expect(await statusesOf(callers, (caller) => caller.put(path, { released_at: 'x' }))).toEqual(writes)
  }
})
