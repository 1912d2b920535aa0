import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { processesOf } from '../../../../test/git-builder.ts'
import { runGit, temporaryFolder } from '../../../../test/git-origin.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const ADA = 'Ada <ada@example.com> 1348131022 +0300'
const GRACE = 'Grace <grace@example.com> 1348217422 -0500'

/** Three commits on `master`, one of them also on a separate branch, and a tag. */
async function history(forge: TestForge) {
  const project = await forge.project({ visibility: 'public' })
  const dir = await fillProject(
    forge,
    project.id,
    { message: 'first\n\nand why\n', author: ADA, committer: GRACE, files: { 'a.txt': 'one\ntwo\n' } },
    {
      branch: 'side',
      from: 'refs/heads/master',
      message: 'beside',
      author: 'Grace <grace@example.com>',
      at: 1500000000,
      files: { 'b.txt': 'b\n' },
    },
    {
      message: 'second\n\nSigned-off-by: Ada\nRefs: #1\nRefs: #2',
      at: 1600000000,
      files: { 'a.txt': null, 'c.txt': 'one\ntwo\nthree\n' },
    },
    { message: '', at: 1700000000, files: { 'c.txt': 'one\nTWO\nthree\n' } },
  )
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  await git('tag', 'v1', 'master~1')
  const idOf = (name: string) => git('rev-parse', name)
  return { project, git, idOf, url: `/projects/${project.id}/repository/commits` }
}

test('a commit is told whole, in the zones its people were in', async () => {
  await using forge = await startForge()
  const { project, url, idOf } = await history(forge)
  const [first, second] = [await idOf('master~2'), await idOf('master~1')]

  const record = {
    id: first,
    short_id: first.slice(0, 8),
    title: 'first',
    message: 'first\n\nand why\n',
    created_at: '2012-09-21T03:50:22.000-05:00',
    parent_ids: [],
    author_name: 'Ada',
    author_email: 'ada@example.com',
    authored_date: '2012-09-20T11:50:22.000+03:00',
    committer_name: 'Grace',
    committer_email: 'grace@example.com',
    committed_date: '2012-09-21T03:50:22.000-05:00',
    web_url: `${project.web_url}/-/commit/${first}`,
    trailers: {},
    extended_trailers: {},
  }
  const detail = { ...record, project_id: project.id, status: null, last_pipeline: null }
  const got = await forge.visitor.get(`${url}/${first.slice(0, 10)}`)
  expect(got.status).toBe(200)
  expect(got.body).toEqual({ ...detail, stats: { additions: 2, deletions: 0, total: 2 } })
  expect((await forge.visitor.get(`${url}/master~2`, { stats: false })).body).toEqual(detail)
  expect((await forge.visitor.get(url, { until: '2012-12-31T00:00:00Z' })).body).toEqual([record])

  expect((await forge.visitor.get(`${url}/v1`)).body).toMatchObject({
    id: second,
    parent_ids: [first],
    trailers: { 'Signed-off-by': 'Ada', Refs: '#2' },
    extended_trailers: {},
  })
  const listed = async (input = {}) => (await forge.visitor.get(url, { ref_name: 'v1', per_page: 1, ...input })).body[0]
  expect((await listed()).extended_trailers).toEqual({})
  expect((await listed({ trailers: true })).extended_trailers).toEqual({ 'Signed-off-by': ['Ada'], Refs: ['#1', '#2'] })
  expect((await forge.visitor.get(`${url}/HEAD`)).body.title).toBe('--no commit message')
})

test('a list is narrowed by what was asked, newest first, and counted', async () => {
  await using forge = await startForge()
  const { url, idOf } = await history(forge)
  const [first, second, third, side] = await Promise.all(['master~2', 'master~1', 'master', 'side'].map(idOf))
  const listed = async (input: Record<string, unknown>) => {
    const { status, body, headers } = await forge.visitor.get(url, input)
    expect(status).toBe(200)
    expect(headers.get('x-total')).toBe(String(body.length))
    return body.map((commit: { id: string }) => commit.id)
  }

  expect(await listed({})).toEqual([third, second, first])
  const blank = { ref_name: '', since: '', until: '', path: '', author: '', all: '', first_parent: '', order: '' }
  expect(await listed(blank)).toEqual([third, second, first])
  expect(await listed({ ref_name: 'side' })).toEqual([side, first])
  expect(await listed({ ref_name: 'side..master' })).toEqual([third, second])
  expect(await listed({ ref_name: 'side..' })).toEqual([third, second])
  expect(await listed({ ref_name: 'side..master', path: 'c.txt' })).toEqual([third, second])
  expect(await listed({ all: true })).toEqual([third, second, side, first])
  expect(await listed({ since: '2020-09-13T12:26:40Z' })).toEqual([third, second])
  expect(await listed({ until: '2020-09-13T12:26:40Z' })).toEqual([second, first])
  expect(await listed({ author: 'grace', all: true })).toEqual([side])
  expect(await listed({ first_parent: true, order: 'topo' })).toEqual([third, second, first])
  // The history includes the earlier name of the file.
  expect(await listed({ path: '/c.txt' })).toEqual([third, second, first])
  for (const nothing of [
    { ref_name: 'nowhere' },
    { ref_name: '--all' },
    { ref_name: 'nowhere..side' },
    { ref_name: 'master...side' },
    { ref_name: 'side..master..side' },
    { ref_name: '..--all' },
    { path: 'nothing.txt' },
    { path: '../../etc/passwd' },
    { author: 'x'.repeat(5000) },
  ]) {
    expect(await listed(nothing)).toEqual([])
  }

  // The second call does not count again, but returns the same number.
  expect(await listed({})).toHaveLength(3)
  expect(await listed({ path: 'c.txt' })).toEqual([third, second, first])
  const page = await forge.visitor.get(url, { per_page: 1, page: 2, with_stats: true })
  expect(page.body).toEqual([expect.objectContaining({ id: second, stats: { additions: 1, deletions: 0, total: 1 } })])
  expect(page.headers.get('x-total')).toBe('3')
  expect(page.headers.get('link')).toContain('rel="next"')
  expect((await forge.visitor.get(url, { path: 'c.txt', per_page: 2, page: 2 })).body).toMatchObject([{ id: first }])

  const empty = await forge.project({ visibility: 'public' })
  expect((await forge.visitor.get(`/projects/${empty.id}/repository/commits`)).body).toEqual([])
})

test.each([
  ['', { since: 'yesterday' }, 400, 'since is invalid'],
  ['', { order: 'random' }, 400, 'order does not have a valid value'],
  ['/nowhere', {}, 404, '404 Commit Not Found'],
  ['/-n1', {}, 404, '404 Commit Not Found'],
  ['/nowhere/diff', {}, 404, '404 Commit Not Found'],
  ['/nowhere/refs', {}, 404, '404 Commit Not Found'],
  ['/nowhere/sequence', {}, 404, '404 Commit Not Found'],
  ['/nowhere/merge_requests', {}, 404, '404 Commit Not Found'],
  ['/nowhere/signature', {}, 404, '404 Commit Not Found'],
  ['/nowhere/comments', {}, 404, '404 Commit Not Found'],
  ['/master/signature', {}, 404, '404 Signature Not Found'],
] as const)('GET commits%s %j is refused', async (tail, input, status, message) => {
  await using forge = await startForge()
  const { url } = await history(forge)
  const answer = await forge.visitor.get(url + tail, input)
  expect(answer).toMatchObject({ status, body: { message } })
})

test('what a commit changed, where it is, and how many came before it', async () => {
  await using forge = await startForge()
  const { url, idOf } = await history(forge)
  const second = await idOf('master~1')

  const rename = {
    old_path: 'a.txt',
    new_path: 'c.txt',
    a_mode: '100644',
    b_mode: '100644',
    new_file: false,
    renamed_file: true,
    deleted_file: false,
    diff: '--- a/a.txt\n+++ b/c.txt\n@@ -1,2 +1,3 @@\n one\n two\n+three\n',
    generated_file: false,
    collapsed: false,
    too_large: false,
  }
  expect((await forge.visitor.get(`${url}/${second}/diff`)).body).toEqual([rename])
  const unidiff = await forge.visitor.get(`${url}/side/diff`, { unidiff: true, per_page: 1 })
  const hunks = await forge.visitor.get(`${url}/side/diff`, { unidiff: false, per_page: 1 })
  expect(hunks.body).toMatchObject([{ diff: '@@ -0,0 +1 @@\n+b\n' }])
  expect(hunks.headers.get('link')).toContain('unidiff=false')
  expect(unidiff.body).toMatchObject([
    { a_mode: '0', new_file: true, diff: '--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n' },
  ])
  expect(unidiff.headers.get('x-total')).toBe('1')
  expect((await forge.visitor.get(`${url}/side/diff`, { page: 2 })).body).toEqual([])

  expect((await forge.visitor.get(`${url}/${second}/refs`)).body).toEqual([
    { type: 'branch', name: 'master' },
    { type: 'tag', name: 'v1' },
  ])
  expect((await forge.visitor.get(`${url}/master~2/refs`, { type: 'branch', per_page: 1 })).body).toEqual([
    { type: 'branch', name: 'master' },
  ])
  expect((await forge.visitor.get(`${url}/side/sequence`)).body).toEqual({ count: 2 })
  expect((await forge.visitor.get(`${url}/side/merge_requests`)).body).toEqual([])
})

test('a longer list asks the store no more, and starts no more processes', async () => {
  await using forge = await startForge()
  const { url } = await history(forge)
  const ask = (per_page: number) => () => forge.visitor.get(url, { per_page, with_stats: true })
  await ask(3)()
  expect(await forge.queries(ask(3))).toBe(await forge.queries(ask(1)))
  expect((await processesOf(ask(3))).length).toBe((await processesOf(ask(1))).length)
})

test('a commit is a patch for git am, and a diff for git apply', async () => {
  await using forge = await startForge()
  const { project, git, idOf, url } = await history(forge)
  await using clone = await temporaryFolder()
  const here = (...args: string[]) => runGit(['-C', clone.path, '-c', 'user.name=x', '-c', 'user.email=x@y', ...args])
  await here('init', '-q')

  for (const [sha, message] of [
    [await idOf('master~2'), 'first\n\nand why'],
    [await idOf('master~1'), 'second\n\nSigned-off-by: Ada\nRefs: #1\nRefs: #2'],
  ] as const) {
    const { status, body, headers } = await forge.visitor.get(`${url}/${sha}/patch`)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain'])
    await writeFile(join(clone.path, '.git/patch'), body)
    await here('am', '-q', '.git/patch')
    expect(await here('log', '-1', '--format=%B')).toBe(message)
    expect(await here('rev-parse', 'HEAD^{tree}')).toBe(await idOf(`${sha}^{tree}`))
  }

  const diff = await forge.visitor.get(`${url}/${await idOf('master')}/patch`, { format: 'diff' })
  expect(diff.body.trimEnd()).toBe(await git('diff', '--full-index', 'master~1', 'master'))
  expect((await forge.visitor.get(`${url}/nowhere/patch`)).status).toBe(404)
  expect((await forge.visitor.get(`/projects/${project.id}/repository/commits/master/patch?format=mbox`)).status).toBe(
    400,
  )
})

test('the patch of a merge commit is its change of the first parent', async () => {
  await using forge = await startForge()
  const { git, idOf, url } = await history(forge)
  const tree = await git('merge-tree', '--write-tree', 'master', 'side')
  const merge = await git(
    '-c',
    'user.name=x',
    '-c',
    'user.email=x@y',
    'commit-tree',
    tree,
    '-p',
    await idOf('master'),
    '-p',
    await idOf('side'),
    '-m',
    'merge',
  )
  await git('update-ref', 'refs/heads/master', merge)
  const diff = await forge.visitor.get(`${url}/${merge}/patch`, { format: 'diff' })
  expect(diff.body.trimEnd()).toBe(await git('diff', '--full-index', 'master~1', 'master'))
  expect(diff.body).toContain('+b')
})
