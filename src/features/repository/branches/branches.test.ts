import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { processesOf, type BuiltCommit } from '../../../../test/git-builder.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const headers: unknown = expect.anything()
const refusal = (status: number, message: string) => ({ status, headers, body: { message } })

/** `old` is merged, `same` is at the tip of `master`, `feature/x` has its own commit. */
const COMMITS: BuiltCommit[] = [
  { files: { 'README.md': 'one\n' }, at: 1_700_000_000 },
  { branch: 'old', from: 'refs/heads/master', files: { 'old.txt': 'x' }, at: 1_700_000_100 },
  { merge: 'refs/heads/old', message: 'merge\n', at: 1_700_000_200 },
  {
    branch: 'feature/x',
    from: 'refs/heads/master',
    message: 'Do it\n\nAll of it.\n',
    author: 'Ada <ada@example.com> 1700000300 +0130',
    files: { 'x.txt': 'x' },
  },
]

async function open(forge: TestForge, request: Record<string, unknown> = {}) {
  const source = await openSource(forge, 'projects', request)
  const dir = await fillProject(forge, source.id, ...COMMITS)
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  await git('update-ref', 'refs/heads/same', 'refs/heads/master')
  const member = async (access_level: number) => {
    const person = await forge.user()
    await source.owner.post(`${source.url}/members`, { user_id: person.id, access_level })
    return person
  }
  return { ...source, dir, git, member, repository: `${source.url}/repository`, refs: () => git('for-each-ref') }
}

const namesOf = ({ body }: { body: { name: string }[] }) => body.map(({ name }) => name)

test('a branch is told whole', async () => {
  await using forge = await startForge()
  const { repository, owner, git, path } = await open(forge)
  const id = await git('rev-parse', 'feature/x')
  expect(await owner.get(`${repository}/branches/feature%2Fx`)).toEqual({
    status: 200,
    headers,
    body: {
      name: 'feature/x',
      commit: {
        id,
        short_id: id.slice(0, 8),
        title: 'Do it',
        message: 'Do it\n\nAll of it.\n',
        created_at: '2023-11-14T23:48:20.000+01:30',
        parent_ids: [await git('rev-parse', 'master')],
        author_name: 'Ada',
        author_email: 'ada@example.com',
        authored_date: '2023-11-14T23:48:20.000+01:30',
        committer_name: 'Ada',
        committer_email: 'ada@example.com',
        committed_date: '2023-11-14T23:48:20.000+01:30',
        web_url: `${forge.url}${path}/-/commit/${id}`,
        trailers: {},
        extended_trailers: {},
      },
      merged: false,
      protected: false,
      developers_can_push: false,
      developers_can_merge: false,
      can_push: true,
      default: false,
      web_url: `${forge.url}${path}/-/tree/feature/x`,
    },
  })
  expect((await owner.head(`${repository}/branches/feature%2Fx`)).status).toBe(204)
  expect((await owner.head(`${repository}/branches/nothing`)).status).toBe(404)
  expect(await owner.get(`${repository}/branches/nothing`)).toEqual(refusal(404, '404 Branch Not Found'))
  expect(await owner.get(`${repository}/branches/a..b`)).toEqual(refusal(400, 'The branch refname is invalid'))
  expect((await owner.head(`${repository}/branches/a..b`)).status).toBe(404)
  // A tag or a commit is not a branch.
  await git('tag', 'v1.0', 'master')
  for (const name of ['v1.0', id, 'heads%2Fmaster']) {
    expect((await owner.get(`${repository}/branches/${name}`)).status).toBe(404)
  }
})

test('its address is a page of its own, whatever the name', async () => {
  await using forge = await startForge()
  const { repository, owner, path } = await open(forge)
  const made = await owner.post(`${repository}/branches`, { branch: 'fix/#1-50%ü', ref: 'master' })
  expect(made.body.web_url).toBe(`${forge.url}${path}/-/tree/fix/%231-50%25%C3%BC`)
})

test('the list tells which are merged, protected and the default one', async () => {
  await using forge = await startForge()
  const { url, repository, owner, member } = await open(forge)
  await owner.post(`${url}/protected_branches`, { name: 'feature/*', push_access_level: 40, merge_access_level: 30 })
  await owner.post(`${url}/protected_branches`, { name: 'old', push_access_level: 30, merge_access_level: 40 })
  const listed = async (caller: { get: typeof owner.get }) =>
    (await caller.get(`${repository}/branches`)).body.map((branch: Record<string, unknown>) =>
      [
        branch.name,
        ...['merged', 'protected', 'developers_can_push', 'developers_can_merge', 'can_push', 'default'].filter(
          (field) => branch[field],
        ),
      ].join(' '),
    )
  expect(await listed(owner)).toEqual([
    'feature/x protected developers_can_merge can_push',
    'master can_push default',
    'old merged protected developers_can_push can_push',
    'same can_push',
  ])
  expect(await listed(await member(30))).toEqual([
    'feature/x protected developers_can_merge',
    'master can_push default',
    'old merged protected developers_can_push can_push',
    'same can_push',
  ])
  expect(await listed(await member(20))).toEqual([
    'feature/x protected developers_can_merge',
    'master default',
    'old merged protected developers_can_push',
    'same',
  ])
})

test('branches are searched, sorted and paged', async () => {
  await using forge = await startForge()
  const { repository, owner, id } = await open(forge)
  const list = (input?: Record<string, unknown>) => owner.get(`${repository}/branches`, input)
  expect(namesOf(await list({ search: 'E' }))).toEqual(['feature/x', 'master', 'same'])
  expect(namesOf(await list({ search: '^ma' }))).toEqual(['master'])
  expect(namesOf(await list({ search: 'e$' }))).toEqual(['same'])
  expect(namesOf(await list({ regex: '^(ma|sa)' }))).toEqual(['master', 'same'])
  expect((await list({ regex: '(' })).body).toEqual({ message: 'regex is invalid', error: 'regex is invalid' })
  expect((await list({ sort: 'size' })).status).toBe(400)
  expect(namesOf(await list({ sort: 'updated_desc' }))).toEqual(['feature/x', 'master', 'same', 'old'])
  expect(namesOf(await list({ sort: 'updated_asc' }))).toEqual(['old', 'master', 'same', 'feature/x'])

  const second = await list({ per_page: 3, page: 2 })
  expect(namesOf(second)).toEqual(['same'])
  expect(second.headers.get('x-total')).toBe('4')
  expect(second.headers.get('x-total-pages')).toBe('2')

  const first = await list({ pagination: 'keyset', per_page: 2, search: 'e', sort: 'updated_desc' })
  expect(namesOf(first)).toEqual(['feature/x', 'master'])
  expect(first.headers.get('x-total')).toBeNull()
  const [, next] = /^<(.+)>; rel="next"$/.exec(first.headers.get('link')!)!
  expect(next).toContain(`/api/v4/projects/${id}/repository/branches?`)
  const last = await owner.get(next!.slice(`${forge.url}/api/v4`.length))
  expect(namesOf(last)).toEqual(['same'])
  expect(last.headers.get('link')).toBeNull()
  expect(namesOf(await list({ page_token: 'm', per_page: 1 }))).toEqual(['master'])
})

test('a list costs the same, however many branches it shows', async () => {
  await using forge = await startForge()
  const { repository, owner, git } = await open(forge)
  const list = () => owner.get(`${repository}/branches`, { per_page: 100 })
  const count = async () => (await processesOf(list)).length
  await list()
  const [few, started] = [await costOf(forge, list), await count()]
  for (let n = 0; n < 10; n++) await git('update-ref', `refs/heads/more/${n}`, 'refs/heads/feature/x')
  expect((await list()).body).toHaveLength(14)
  expect(await costOf(forge, list)).toBe(few)
  expect(await count()).toBe(started)
  expect(started).toBeLessThanOrEqual(2)
})

test('a branch begins at a branch, a tag or a commit', async () => {
  await using forge = await startForge()
  const { id: project_id, repository, owner, git } = await open(forge)
  await git('tag', 'v1.0', 'old')
  const [old, master] = [await git('rev-parse', 'old'), await git('rev-parse', 'master')]
  const from = [
    ['one', 'master', master],
    ['two', 'v1.0', old],
    ['a/three.json', old, old],
    ['four', 'master~1', await git('rev-parse', 'master~1')],
  ]
  for (const [branch, ref, id] of from) {
    const { status, body } = await owner.post(`${repository}/branches`, { branch, ref })
    expect([status, body.name, body.commit?.id]).toEqual([201, branch, id])
    expect(await git('rev-parse', `refs/heads/${branch}`)).toBe(id)
  }
  expect((await owner.get(`${repository}/branches/a%2Fthree.json`)).body.name).toBe('a/three.json')
  const events = await forge.app.db.selectFrom('events').select(['name', 'payload']).orderBy('id', 'desc').execute()
  expect(events[0]!.name).toBe('repository.changed')
  expect(JSON.parse(events[0]!.payload)).toMatchObject({
    project_id,
    by: owner.id,
    updates: [{ ref: 'refs/heads/four', before: null, after: from[3]![2] }],
  })
})

test('what cannot be made or deleted is refused, and nothing moves', async () => {
  await using forge = await startForge()
  const { url, repository, owner, member, refs } = await open(forge)
  await owner.post(`${url}/protected_branches`, { name: 'stable/*' })
  await owner.post(`${url}/protected_branches`, { name: 'old' })
  await owner.post(`${url}/push_rule`, { branch_name_regex: '^[a-z/]+$' })
  const developer = await member(30)
  const [before, events] = [await refs(), await forge.events()]
  const make = (branch: string, ref = 'master') => developer.post(`${repository}/branches`, { branch, ref })
  const expected: [string, string, string?][] = [
    ['refs/heads/x', 'Branch name is invalid'],
    ['a..b', 'Branch name is invalid'],
    ['-x', 'Branch name is invalid'],
    ['HEAD', 'Branch name is invalid'],
    ['', 'Branch name is invalid'],
    ['x'.repeat(251), 'Branch name is invalid'],
    ['same', 'Branch already exists'],
    ['new', 'Invalid reference name', 'nothing'],
    ['new', 'Invalid reference name', '--all'],
    ['new', 'Invalid reference name', ''],
    ['stable/one', 'You are not allowed to push code to protected branches on this project.'],
    ['UPPER', "Branch name does not follow the pattern '^[a-z/]+$'"],
    ['master/x', 'Could not update branch master/x. Please refresh and try again.'],
  ]
  for (const [branch, message, ref] of expected) expect(await make(branch, ref)).toEqual(refusal(400, message))
  expect((await developer.post(`${repository}/branches`, {})).body).toEqual({
    message: '400 (Bad request) branch, ref not given',
    error: 'branch is missing, ref is missing',
  })

  const remove = (name: string) => developer.delete(`${repository}/branches/${name}`)
  expect(await remove('master')).toEqual(refusal(400, 'The default branch of a project cannot be deleted.'))
  expect((await remove('old')).body.message).toMatch(/^You are not allowed to delete protected branches/)
  expect(await remove('nothing')).toEqual(refusal(404, '404 Branch Not Found'))
  expect(await refs()).toBe(before)
  expect(await forge.events()).toEqual(events)
  const atOnce = await Promise.all(Array.from({ length: 4 }, () => make('one')))
  expect(atOnce.filter(({ status }) => status === 201)).toHaveLength(1)
  for (const late of atOnce.filter(({ status }) => status !== 201))
    expect(late).toEqual(refusal(400, 'Branch already exists'))
})

test('a branch is deleted, unless it is newer than the caller knows', async () => {
  await using forge = await startForge()
  const { repository, owner, git } = await open(forge)
  const address = `${repository}/branches/feature%2Fx`
  const since = (seconds: number) => ({ 'If-Unmodified-Since': new Date(seconds * 1000).toUTCString() })
  expect(await owner.delete(address, undefined, since(1_700_000_299))).toEqual(refusal(412, '412 Precondition Failed'))
  expect(await owner.delete(address, undefined, since(1_700_000_300))).toEqual({ status: 204, headers, body: '' })
  expect(await git('for-each-ref', '--format=%(refname)', 'refs/heads/feature')).toBe('')
})

test('in an empty repository the default branch comes first', async () => {
  await using forge = await startForge()
  const { url, owner, id } = await openSource(forge, 'projects')
  const branches = `${url}/repository/branches`
  expect(await owner.get(branches)).toMatchObject({ status: 200, body: [] })
  expect(await owner.get(`${branches}/master`)).toEqual(refusal(404, '404 Branch Not Found'))
  expect(await owner.post(branches, { branch: 'x', ref: 'other' })).toEqual(refusal(400, 'Invalid reference name'))
  expect(await owner.get(branches)).toMatchObject({ body: [] })

  const { status, body } = await owner.post(branches, { branch: 'x', ref: 'master' })
  expect(status).toBe(201)
  expect(body).toMatchObject({ name: 'x', default: false, commit: { message: 'Add README.md', parent_ids: [] } })
  expect(body.commit).toMatchObject({ author_email: owner.email, committer_email: owner.email })
  expect((await owner.get(branches)).body).toMatchObject([
    { name: 'master', default: true, protected: true, commit: { id: body.commit.id } },
    { name: 'x', default: false, protected: false },
  ])
  expect((await owner.get(url)).body).toMatchObject({ default_branch: 'master' })
  const project = await forge.app.db.selectFrom('projects').select('empty_repo').where('id', '=', id).execute()
  expect(project).toEqual([{ empty_repo: false }])
})

test('the default branch itself may be the first', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const made = await owner.post(`${url}/repository/branches`, { branch: 'master', ref: 'HEAD' })
  expect(made).toMatchObject({ status: 201, body: { name: 'master', default: true, protected: true } })
})

test('a project whose repository is still to come has none', async () => {
  await using forge = await startForge()
  const { url, repository, owner, dir } = await open(forge)
  await rm(dir, { recursive: true })
  expect(await owner.get(`${repository}/branches`)).toMatchObject({ status: 200, body: [] })
  expect(await owner.get(`${repository}/tags`)).toMatchObject({ status: 200, body: [] })
  expect(await owner.get(`${url}/releases`)).toMatchObject({ status: 200, body: [] })
  expect(await owner.get(`${repository}/branches/old`)).toEqual(refusal(404, '404 Branch Not Found'))
  expect(await owner.get(`${repository}/tags/v1`)).toEqual(refusal(404, '404 Tag Not Found'))
  const ref = 'master'
  expect((await owner.post(`${repository}/branches`, { branch: 'x', ref })).status).toBe(400)
  expect((await owner.post(`${repository}/tags`, { tag_name: 'x', ref })).status).toBe(400)
})

test('merged branches go, except those that are protected or at the tip', async () => {
  await using forge = await startForge()
  const { url, repository, owner, member, git } = await open(forge)
  await git('update-ref', 'refs/heads/kept', 'refs/heads/old')
  await owner.post(`${url}/protected_branches`, { name: 'ke*' })
  const accepted = { status: 202, headers, body: { message: '202 Accepted' } }
  const list = async () => (await git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads')).split('\n')
  const all = ['feature/x', 'kept', 'master', 'old', 'same']

  expect(await (await member(20)).delete(`${repository}/merged_branches`)).toEqual(accepted)
  await forge.settle()
  expect(await list()).toEqual(all)
  expect(await (await member(30)).delete(`${repository}/merged_branches`)).toEqual(accepted)
  await forge.settle()
  expect(await list()).toEqual(all.filter((name) => name !== 'old'))
  const events = await forge.events()
  await owner.delete(`${repository}/merged_branches`)
  await forge.settle()
  expect(await forge.events()).toEqual(events)
})

test('a branch is protected by its name, and no longer', async () => {
  await using forge = await startForge()
  const { url, repository, owner } = await open(forge)
  const put = async (name: string, verb: string, input?: Record<string, unknown>) => {
    const { status, body } = await owner.put(`${repository}/branches/${name}/${verb}`, input)
    if (status !== 200) return { status, body }
    return [body.protected, body.developers_can_push, body.developers_can_merge]
  }
  expect(await put('old', 'protect')).toEqual([true, false, false])
  expect(await put('old', 'protect', { developers_can_push: true })).toEqual([true, true, false])
  expect(await put('old', 'protect', { developers_can_merge: 'true' })).toEqual([true, true, true])
  expect(await put('old', 'protect', { developers_can_push: false })).toEqual([true, false, true])
  expect((await owner.get(`${url}/protected_branches/old`)).body).toMatchObject({
    push_access_levels: [{ access_level: 40 }],
    merge_access_levels: [{ access_level: 30 }],
  })
  expect(await put('feature%2Fx', 'protect', { developers_can_push: true })).toEqual([true, true, false])

  await owner.post(`${url}/protected_branches`, { name: 'o*' })
  expect(await put('old', 'unprotect')).toEqual([true, false, false])
  expect(await put('same', 'unprotect')).toEqual([false, false, false])
  expect((await owner.get(`${url}/protected_branches/old`)).status).toBe(404)

  const atOnce = [true, false, true, false].map((developers_can_push) =>
    put('same', 'protect', { developers_can_push }),
  )
  expect(await Promise.all(atOnce)).toEqual(Array(4).fill([true, expect.any(Boolean), false]))
  expect((await owner.get(`${url}/protected_branches/same`)).body.push_access_levels).toHaveLength(1)
  const noLonger = [put('same', 'unprotect'), put('same', 'unprotect')]
  expect(await Promise.all(noLonger)).toEqual(Array(2).fill([false, false, false]))

  const missing = { status: 404, body: { message: '404 Branch Not Found' } }
  expect(await put('nothing', 'protect')).toEqual(missing)
  expect(await put('nothing', 'unprotect')).toEqual(missing)
  expect(await put('old', 'protect', { developers_can_push: 'perhaps' })).toMatchObject({ status: 400 })
})

test('readers read, developers write, masters protect; not where the repository is off', async () => {
  await using forge = await startForge()
  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked. Callers who may
  // read the code get the 404 first; the table of roles covers write permissions.
  const tables = [
    [
      'private',
      [404, 404, 404, 403, 200, 200, 200, 200, 200, 401],
      [401, 404, 404, 403, 400, 400, 400, 400, 400, 401],
      [401, 404, 404, 403, 403, 403, 200, 200, 200, 401],
    ],
    [
      'public',
      [200, 200, 200, 200, 200, 200, 200, 200, 200, 401],
      [401, 400, 400, 400, 400, 400, 400, 400, 400, 401],
      [401, 403, 403, 403, 403, 403, 200, 200, 200, 401],
    ],
  ] as const
  for (const [visibility, reads, writes, protects] of tables) {
    const source = await open(forge, { visibility })
    const callers = await callersOf(forge, source)
    const { repository, owner, url } = source
    expect(await statusesOf(callers, (caller) => caller.get(`${repository}/branches`))).toEqual(reads)
    expect(await statusesOf(callers, (caller) => caller.get(`${repository}/branches/old`))).toEqual(reads)
    expect(await statusesOf(callers, (caller) => caller.post(`${repository}/branches`))).toEqual(writes)
    expect(await statusesOf(callers, (caller) => caller.put(`${repository}/branches/old/protect`))).toEqual(protects)

    await owner.put(url, { repository_access_level: 'disabled' })
    const { owner: own } = callers
    expect((await forge.visitor.get(`${repository}/branches`)).status).toBe(visibility === 'public' ? 403 : 404)
    expect((await own.get(`${repository}/branches`)).status).toBe(403)
    expect((await own.get(`${repository}/branches/old`)).status).toBe(403)
    expect((await own.delete(`${repository}/branches/old`)).status).toBe(403)
    expect((await own.put(`${repository}/branches/old/unprotect`)).status).toBe(403)
    await owner.put(url, { repository_access_level: 'enabled' })
    await owner.post(`${url}/archive`)
    expect((await own.post(`${repository}/branches`, { branch: 'x', ref: 'old' })).status).toBe(403)
    expect((await own.get(`${repository}/branches/old`)).body.can_push).toBe(false)
  }
})
