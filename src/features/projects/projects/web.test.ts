import { get } from 'node:http'
import { expect, test } from 'vitest'
import { CALLERS, callersOf, openSource } from '../../../../test/sources.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { addRedirect } from '../paths/paths.ts'

const UNKNOWN = { error: '404 Not Found' }

async function ask({ url }: TestForge, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(url + path, { method, headers, redirect: 'manual' })
  return { status: answer.status, location: answer.headers.get('location'), body: await answer.text() }
}

test('what no page and nobody owns is unknown, and every other route stays as it was', async () => {
  await using forge = await startForge()
  const unknown = ['/nobody', '/nobody/nothing', '/nobody/nothing/tree/master', '/assets/x', '/uploads/x', '/users/x/y']
  const odd = ['/%2e%2e/x', '/a%2fb', '/a%00b', '/a/%5c', '/api', '/api/v3/projects', '/oauth/token', '/-/nothing']
  for (const path of [...unknown, ...odd]) {
    expect([path, JSON.parse((await ask(forge, path, { Accept: 'application/json' })).body)]).toEqual([path, UNKNOWN])
    expect([path, (await ask(forge, path)).status]).toEqual([path, 404])
    expect(await ask(forge, path, {}, 'HEAD')).toEqual({ status: 404, location: null, body: '' })
  }
  expect((await ask(forge, '/%zz')).status).toBe(400)
  expect((await ask(forge, '/nobody/nothing', {}, 'POST')).status).toBe(404)
  expect(await ask(forge, '/')).toMatchObject({ status: 200 })
  for (const path of ['/users/sign_in', '/api/docs', '/api/openapi.json', '/-/health']) {
    expect([path, (await ask(forge, path)).status]).toEqual([path, 200])
  }
  expect((await ask(forge, '/api/v4/nothing')).body).toBe(JSON.stringify(UNKNOWN))
})

test('what a browser would keep to itself is not looked at', async () => {
  await using forge = await startForge()
  const { url, path, owner } = await openSource(forge, 'projects', { visibility: 'public' })
  await owner.put(url, { path: 'renamed' })
  const asWritten = (at: string) =>
    new Promise<[number, string | undefined]>((resolve, reject) =>
      get(forge.url, { path: at }, ({ statusCode, headers }) => resolve([statusCode!, headers.location])).on(
        'error',
        reject,
      ),
    )
  for (const at of ['/nobody#%zz', '/nobody/nothing#/%', '/#%zz'])
    expect((await asWritten(at))[0], at).toBeLessThan(500)
  expect(await asWritten(`${path}#%zz`)).toEqual([302, path.replace(/[^/]+$/, 'renamed')])
  expect(await asWritten(`${path}.git/info/refs#%zz`)).toEqual([401, undefined])
})

test('a renamed project is found under its old address, with all that follows', async () => {
  await using forge = await startForge()
  const { url, path, owner, group } = await openSource(forge, 'projects', { visibility: 'public' })
  const form = new FormData()
  form.set('file', new Blob(['hello']), 'a b.txt')
  const { full_path } = (await owner.post(`${url}/uploads`, form)).body
  expect((await owner.put(url, { path: 'renamed' })).status).toBe(200)
  const moved = path.replace(/[^/]+$/, 'renamed')

  for (const rest of ['', '/tree/master?x=1&y=%2F', '/blob/master/%C3%BC%20x.md', '?x', '/issues?a=b?c=d']) {
    const { status, location } = await ask(forge, path + rest)
    expect([rest, status, location]).toEqual([rest, 302, moved + rest])
  }
  expect((await ask(forge, path.toUpperCase())).location).toBe(moved)
  expect(await ask(forge, path, {}, 'HEAD')).toMatchObject({ status: 302, location: moved })
  const { location } = await ask(forge, full_path)
  expect(location).toBe(full_path.replace(path, moved))
  expect((await ask(forge, location!)).body).toBe('hello')

  // A new project at that path takes precedence.
  await owner.post('/projects', { path: path.split('/')[2], namespace_id: group.id, visibility: 'private' })
  expect(await ask(forge, `${path}/-/tree/HEAD`)).toMatchObject({ status: 404, location: null })
})

test('redirects reveal nothing to viewers without access to the target', async () => {
  await using forge = await startForge()
  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
  const expected = {
    private: [404, 404, 404, 302, 302, 302, 302, 302, 302, 401],
    internal: [404, 302, 404, 302, 302, 302, 302, 302, 302, 401],
    public: [302, 302, 302, 302, 302, 302, 302, 302, 302, 401],
  }
  for (const kind of ['groups', 'projects'] as const) {
    for (const visibility of ['private', 'internal', 'public'] as const) {
      const source = await openSource(forge, kind, { visibility })
      const callers = await callersOf(forge, source)
      const target = kind === 'groups' ? { namespace_id: source.id } : { project_id: source.id }
      await addRedirect(forge.app, `old-${kind}-${visibility}/x`, target)
      const statuses: number[] = []
      for (const name of CALLERS) {
        statuses.push((await ask(forge, `/old-${kind}-${visibility}/x/y`, callers[name].headers)).status)
      }
      expect([kind, visibility, statuses]).toEqual([kind, visibility, expected[visibility]])
    }
  }
})

test('the longest known beginning decides', async () => {
  await using forge = await startForge()
  const one = await openSource(forge, 'projects', { visibility: 'public' })
  const two = await openSource(forge, 'projects', { visibility: 'public' })
  const groupPath = one.path.split('/')[1]!
  await addRedirect(forge.app, 'Old', { namespace_id: one.group.id })
  await addRedirect(forge.app, 'old/inner', { project_id: two.id })
  await addRedirect(forge.app, groupPath, { namespace_id: two.group.id })
  await addRedirect(forge.app, `${groupPath}/gone`, { project_id: two.id })

  const table: [string, string | null][] = [
    ['/old', `/${groupPath}`],
    ['/old/saw/tree/a', `/${groupPath}/saw/tree/a`],
    ['/old/inner/tree/a', `${two.path}/tree/a`],
    ['/old/inner2', `/${groupPath}/inner2`],
    [`/${groupPath}/gone/x`, `${two.path}/x`],
    // An existing path takes precedence over a redirect.
    [`/${groupPath}`, null],
    [`/${groupPath}/nothing`, null],
    [`${one.path}/x`, null],
  ]
  for (const [path, location] of table) {
    expect([path, await ask(forge, path, { Accept: 'application/json' })]).toEqual([
      path,
      expect.objectContaining({ status: location ? 302 : 404, location }),
    ])
  }
  expect((await ask(forge, `/old/${'x/'.repeat(2000)}`)).status).toBe(302)
})

test('an upload and an old path are answered once, and counted as what was answered', async () => {
  const lines: { level: number; method?: string; status?: number }[] = []
  await using forge = await startForge({ logTo: { write: (line) => void lines.push(JSON.parse(line)) } })
  const { url, path, owner } = await openSource(forge, 'projects', { visibility: 'public' })
  const form = new FormData()
  form.set('file', new Blob(['hello']), 'a.txt')
  const { full_path } = (await owner.post(`${url}/uploads`, form)).body
  await owner.put(url, { path: 'renamed' })
  const moved = path.replace(/[^/]+$/, 'renamed')
  lines.length = 0
  const asked = [full_path.replace(path, moved), path, '/nobody/nothing']
  for (const at of asked) await ask(forge, at)
  // The server logs a request after its answer, which may be after the next request.
  const answered = () => new Set(lines.flatMap(({ method, status }) => (method === 'GET' ? [status] : [])))
  await expect.poll(answered).toEqual(new Set([200, 302, 404]))
  expect(lines.filter(({ method }) => method === 'GET')).toHaveLength(3)
  expect(lines.filter(({ level }) => level > 30)).toEqual([])
})
