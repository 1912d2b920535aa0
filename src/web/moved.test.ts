/** Links to URLs of older releases. */
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillProject } from '../../test/contents.ts'
import { startForge, type TestForge } from '../forge.ts'

let forge: TestForge
let id: number
beforeAll(async () => {
  forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  const project = await forge.project({ path: 'mill', visibility: 'public' }, jane)
  await fillProject(
    forge,
    project.id,
    { files: { 'docs/a b.txt': 'x\n' } },
    { branch: 'some/branch', files: { c: 'c\n' } },
  )
  id = project.id
})
afterAll(() => forge[Symbol.asyncDispose]())

const ask = (address: string) => fetch(forge.url + address, { redirect: 'manual', headers: { Accept: 'text/html' } })

test.each([
  ['/jane/mill/builds', '/jane/mill/-/jobs'],
  ['/jane/mill/builds/7', '/jane/mill/-/jobs/7'],
  ['/jane/mill/-/builds/7?x=1', '/jane/mill/-/jobs/7?x=1'],
  ['/jane/mill/-/jobs/7/raw', '/api/v4/projects/jane%2Fmill/jobs/7/trace'],
  [
    '/jane/mill/archive/some/branch/mill.tar.gz',
    '/api/v4/projects/jane%2Fmill/repository/archive.tar.gz?sha=some%2Fbranch',
  ],
  ['/jane/mill/-/archive/master/mill-master.zip', '/api/v4/projects/jane%2Fmill/repository/archive.zip?sha=master'],
  ['/jane/mill/repository/archive.zip?ref=master', '/api/v4/projects/jane%2Fmill/repository/archive.zip?sha=master'],
  ['/jane/mill/merge_requests/3.patch', '/api/v4/projects/jane%2Fmill/merge_requests/3/raw_diffs'],
  ['/jane/mill/-/commit/abc.patch', '/api/v4/projects/jane%2Fmill/repository/commits/abc/patch?format=patch'],
  ['/jane/mill/commit/v1.2.diff', '/api/v4/projects/jane%2Fmill/repository/commits/v1.2/patch?format=diff'],
  ['/jane/mill/-/commits', '/jane/mill/-/commits/HEAD'],
  ['/jane/mill/-/graphs', '/jane/mill/-/graphs/HEAD'],
  ['/jane/mill/-/graphs/some/branch/charts', '/jane/mill/-/graphs/some/branch'],
  ['/jane/mill/network', '/jane/mill/-/network/HEAD'],
  ['/jane/mill/settings', '/jane/mill/-/edit'],
  ['/jane/mill/-/settings/general', '/jane/mill/-/edit'],
  ['/jane/mill/-/settings/webhooks', '/jane/mill/-/hooks'],
  ['/jane/mill/-/settings/members', '/jane/mill/-/project_members'],
  ['/jane/mill/-/services/slack/edit', '/jane/mill/-/settings/integrations/slack'],
  ['/profile/keys', '/-/profile/keys'],
  ['/oauth/applications', '/-/profile/applications'],
  ['/u/jane', '/jane'],
  ['/dashboard', '/dashboard/projects'],
  ['/dashboard/projects/starred', '/dashboard/projects?show=starred'],
  ['/dashboard/snippets', '/-/snippets'],
  ['/-/user_settings/profile', '/-/profile'],
  ['/-/user_settings/ssh_keys', '/-/profile/keys'],
  ['/-/user_settings/personal_access_tokens', '/-/profile/personal_access_tokens'],
  ['/users/terms', '/-/users/terms'],
  ['/favicon.ico', '/-/assets/icon.svg'],
])('%s leads to %s', async (from, to) => {
  const { status, headers } = await ask(from)
  expect([status, headers.get('location')]).toEqual([303, to])
})

test('a file as it is', async () => {
  for (const [path, ref] of [
    ['master/docs/a%20b.txt', 'master'],
    ['some/branch/docs/a%20b.txt', 'some%2Fbranch'],
  ])
    for (const dash of ['', '-/']) {
      const { headers } = await ask(`/jane/mill/${dash}raw/${path}`)
      const to = `/api/v4/projects/${id}/repository/files/docs%2Fa%20b.txt/raw?ref=${ref}`
      expect([path, headers.get('location')]).toEqual([path, to])
    }
  expect((await ask('/jane/mill/raw/none/a.txt')).status).toBe(404)
  expect((await ask('/jane/none/raw/master/a.txt')).status).toBe(404)
})

test('with and without the dash the same page stands', async () => {
  for (const rest of ['issues', 'tree/master', 'blob/master/docs/a%20b.txt', 'commits/some/branch', 'branches'])
    for (const dash of ['', '-/'])
      expect([dash + rest, (await ask(`/jane/mill/${dash}${rest}`)).status]).toEqual([dash + rest, 200])
})

test('a project may be named like a page', async () => {
  const jane = forge.administrator
  const { body: outer } = await jane.post('/groups', { name: 'Outer', path: 'outer', visibility: 'public' })
  const inner = { name: 'Inner', path: 'inner', parent_id: outer.id, visibility: 'public' }
  const { body: group } = await jane.post('/groups', inner)
  await jane.post('/projects', { name: 'network', namespace_id: group.id, visibility: 'public' })
  expect((await ask('/outer/inner/network')).status).toBe(200)
})

const headersFor = (accept: string | undefined) => (accept === undefined ? {} : { Accept: accept })

/** Without an Accept header, as programs send: Node's own client would accept anything. */
function pageRequest(
  address: string,
  accept: string | undefined,
): Promise<{ status: number; type: string; location: string }> {
  return new Promise((resolve, reject) => {
    const asking = request(forge.url + address, { headers: headersFor(accept) }, (answer) => {
      const { 'content-type': type = '', location = '' } = answer.headers
      answer.resume().once('end', () => resolve({ status: answer.statusCode!, type, location }))
    })
    asking.once('error', reject).end()
  })
}

test.each([
  ['nothing', undefined],
  ['anything', '*/*'],
  ['pictures', 'image/avif,image/webp,image/png,image/*;q=0.8'],
  ['JSON first and then anything', 'application/json, text/plain, */*'],
])('who accepts %s gets pages and files', async (_what, accept) => {
  expect(await pageRequest('/jane/mill', accept)).toMatchObject({
    status: 200,
    type: expect.stringContaining('text/html'),
  })
  const raw = await pageRequest('/jane/mill/-/raw/master/docs/a%20b.txt', accept)
  expect(raw).toMatchObject({ status: 303, location: expect.stringContaining('/raw?ref=master') })
  expect(await pageRequest(raw.location, accept)).toMatchObject({
    status: 200,
    type: expect.stringContaining('text/plain'),
  })
  const archive = await pageRequest('/jane/mill/-/archive/master/mill-master.zip', accept)
  expect(await pageRequest(archive.location, accept)).toMatchObject({ status: 200 })
  for (const path of ['/none/of/this', '/-/none', '/groups/none', '/-/snippets/99'])
    expect(await pageRequest(path, accept)).toMatchObject({ status: 404, type: expect.stringContaining('text/html') })
})

test('who accepts JSON alone gets JSON', async () => {
  for (const path of ['/jane/mill', '/none/of/this', '/-/none', '/groups/none', '/-/snippets/99'])
    expect(await pageRequest(path, 'application/json')).toMatchObject({ status: 404, type: 'application/json' })
})
