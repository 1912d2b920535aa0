import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { MINUTE } from '../../../clock.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

/** A maintainer's project with one commit on `master`, and a clone of it. */
async function stage(forge: TestForge) {
  const work = await workspace()
  const group = await forge.group({ path: 'team' })
  const project = await forge.project({ path: 'engine', namespace_id: group.id })
  const people = { developer: await forge.user({ username: 'dev' }), master: await forge.user({ username: 'max' }) }
  await addMember(forge, { group_id: group.id }, people.developer.id, 30)
  await addMember(forge, { group_id: group.id }, people.master.id, 40)
  const { git } = work
  await git('init', '-q', '-b', 'master', 'src')
  const commit = async (message: string, files: Record<string, string | Buffer> = {}) => {
    for (const [name, content] of Object.entries(files)) {
      const path = join(work.folder, 'src', name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, content)
      await git('-C', 'src', 'add', '-A')
    }
    return git('-C', 'src', 'commit', '-q', '--allow-empty', '-m', message)
  }
  const push = (who: Person, ...refs: string[]) =>
    git('-C', 'src', 'push', addressFor(forge, 'team/engine', who), ...refs)
  const refs = async () => (await git('ls-remote', addressFor(forge, 'team/engine', people.master))).stdout
  await commit('First')
  expect((await push(people.master, 'master')).code).toBe(0)
  return {
    ...work,
    ...people,
    project,
    commit,
    push,
    refs,
    reset: () => git('-C', 'src', 'reset', '-q', '--hard', 'origin'),
  }
}

/** Refs other than branches that lead to the same commit. */
const OTHER_DOORS = ['HEAD:refs/tags/v1', 'told', 'HEAD:refs/notes/x', 'HEAD:refs/else']

test('each push rule refuses what it names, with its own words, and nothing moves', async () => {
  await using forge = await startForge()
  await using at = await stage(forge)
  const { project, developer, master, commit, push, git } = at
  await git('-C', 'src', 'branch', 'origin')
  const rule = (input: Record<string, unknown>) => master.put(`/projects/${project.id}/push_rule`, input)
  await master.post(`/projects/${project.id}/push_rule`, { member_check: false })
  const OFF = {
    commit_message_regex: '',
    commit_message_negative_regex: '',
    branch_name_regex: '',
    author_email_regex: '',
    file_name_regex: '',
    max_file_size: 0,
    member_check: false,
    prevent_secrets: false,
    deny_delete_tag: false,
    commit_committer_check: false,
    reject_unsigned_commits: false,
  }
  const table: [Record<string, unknown>, [string, Record<string, string | Buffer>?], string][] = [
    [{ branch_name_regex: '^feature/' }, ['x'], "Branch name does not follow the pattern '^feature/'"],
    [{ commit_message_regex: '^JIRA-\\d+' }, ['no number'], "Commit message does not follow the pattern '^JIRA-\\d+'"],
    [{ commit_message_negative_regex: 'WIP' }, ['a WIP'], "Commit message contains the forbidden pattern 'WIP'"],
    [
      { author_email_regex: '@corp.example$' },
      ['x'],
      "Committer's email 'ada@example.com' does not follow the pattern '@corp.example$'",
    ],
    [{ member_check: true }, ['x'], "Author 'ada@example.com' is not a member of team"],
    [{ commit_committer_check: true }, ['x'], "You cannot push commits for 'ada@example.com'."],
    [{ reject_unsigned_commits: true }, ['x'], 'Commit must be signed'],
    [
      { file_name_regex: '\\.exe$' },
      ['x', { 'bin/a.exe': '' }],
      'File name bin/a.exe was blacklisted by the pattern \\.exe$.',
    ],
    [{ prevent_secrets: true }, ['x', { 'keys/my_id_rsa': '' }], 'File name keys/my_id_rsa was blacklisted'],
    [{ prevent_secrets: true }, ['x', { '.bash_history': '' }], 'File name .bash_history was blacklisted'],
    [
      { max_file_size: 1 },
      ['x', { 'big.bin': Buffer.alloc(1024 * 1024 + 1) }],
      'File "big.bin" is larger than the allowed size of 1 MB',
    ],
  ]
  // An unconfirmed email address does not count.
  await developer.post('/user/emails', { email: 'ada@example.com' })
  const refs = await at.refs()
  for (const [n, [request, [message, files], answer]] of table.entries()) {
    await rule({ ...OFF, ...request })
    await at.reset()
    await commit(message, files)
    const before = await forge.events()
    const other = OTHER_DOORS[n % OTHER_DOORS.length]!
    const doors = 'branch_name_regex' in request ? ['HEAD:topic'] : ['HEAD:topic', other]
    await git('-C', 'src', 'tag', '-f', '-a', '-m', 'Told', 'told')
    for (const door of doors) {
      const { code, stderr } = await push(developer, door)
      expect([answer, door, code, stderr]).toEqual([
        answer,
        door,
        1,
        expect.stringContaining(`remote: Mortise: ${answer}`),
      ])
      expect(stderr).toContain('(pre-receive hook declined)')
    }
    expect(await forge.events()).toEqual(before)
  }
  expect(await at.refs()).toBe(refs)

  const allowed: [Record<string, unknown>, [string, Record<string, string>?]][] = [
    [{ branch_name_regex: '^topic' }, ['x']],
    [{ commit_message_regex: '^JIRA-\\d+' }, ['text\n\nJIRA-1 closed']],
    [{ prevent_secrets: true }, ['x', { 'id_rsa.pub': '', 'docs/aws/credentials.md': '', xhistory: '' }]],
    [{ file_name_regex: 'xhistory' }, ['x', { xhistory: 'changed only' }]],
  ]
  for (const [n, [request, [message, files]]] of allowed.entries()) {
    await rule({ ...OFF, ...request })
    await commit(message, files)
    expect([request, await push(developer, `HEAD:topic${n}`)]).toMatchObject([request, { code: 0 }])
  }
})

test('what the API was refused is not taken by its id either, as a branch or as a tag', async () => {
  await using forge = await startForge()
  await using at = await stage(forge)
  const { project, developer, master, git } = at
  const url = `/projects/${project.id}`
  await master.post(`${url}/push_rule`, { commit_message_regex: '^JIRA' })
  const refusal = { status: 400, body: { message: "Commit message does not follow the pattern '^JIRA'" } }
  const file = { branch: 'topic', start_branch: 'master', content: 'x', commit_message: 'No number' }
  expect(await developer.post(`${url}/repository/files/x`, file)).toMatchObject(refusal)
  const dir = repositoryDir(forge.app, (await findProjectById(forge.app.db, project.id))!)
  const { stdout } = await git('-C', dir, 'fsck', '--unreachable', '--no-progress')
  const ref = /unreachable commit (\w+)/.exec(stdout)![1]!
  expect(await developer.post(`${url}/repository/tags`, { tag_name: 'v1', ref })).toMatchObject(refusal)
  expect(await developer.post(`${url}/repository/tags`, { tag_name: 'v1', ref, message: 'Told' })).toMatchObject(
    refusal,
  )
  expect(await developer.post(`${url}/repository/branches`, { branch: 'x', ref })).toMatchObject(refusal)
  expect(await developer.post(`${url}/releases`, { tag_name: 'v2', ref, description: 'x' })).toMatchObject(refusal)
  expect(await at.refs()).not.toContain(ref)
})

test('protection asks the role, refuses rewriting, and deletion only through the API', async () => {
  await using forge = await startForge()
  await using at = await stage(forge)
  const { project, developer, master, commit, push, git } = at
  await commit('Second')
  const refs = await at.refs()
  const refused: [Promise<{ code: number; stderr: string }>, string][] = [
    [push(developer, 'master'), 'You are not allowed to push code to protected branches on this project.'],
    [push(master, ':master'), 'The default branch of a project cannot be deleted.'],
    [
      push(developer, `HEAD:refs/heads/${'a'.repeat(40)}`),
      'You cannot create a branch with a SHA-1 or SHA-256 branch name.',
    ],
  ]
  for (const [request, message] of refused) {
    const { stderr } = await request
    expect(stderr).toContain(`remote: Mortise: ${message}`)
  }
  expect((await push(developer, 'HEAD:refs/merge-requests/1/head')).stderr).toContain('deny updating a hidden ref')
  // One invalid ref rejects the whole push.
  expect((await push(developer, 'master', 'HEAD:free')).stderr).toContain('free (pre-receive hook declined)')
  expect(await at.refs()).toBe(refs)

  await master.post(`/projects/${project.id}/protected_branches`, { name: 'release/*', push_access_level: 30 })
  expect((await push(developer, 'HEAD:release/1')).code).toBe(0)
  await git('-C', 'src', 'commit', '-q', '--amend', '--allow-empty', '-m', 'Rewritten')
  expect((await push(developer, '+HEAD:release/1')).stderr).toContain('You are not allowed to force push code')
  expect((await push(developer, ':release/1')).stderr).toContain('You are not allowed to delete protected branches')
  expect((await push(master, ':release/1')).stderr).toContain('You can only delete protected branches using the web')

  await git('-C', 'src', 'tag', 'v1')
  expect((await push(developer, 'v1')).code).toBe(0)
  expect((await push(developer, ':v1')).stderr).toContain(
    'You are not allowed to change existing tags on this project.',
  )
  await master.post(`/projects/${project.id}/push_rule`, { deny_delete_tag: true })
  expect((await push(master, ':v1')).stderr).toContain('You cannot delete a tag')
})

test('tags that are there, and protected ones', async () => {
  await using forge = await startForge()
  await using at = await stage(forge)
  const { project, developer, master, push, git, commit } = at
  const url = `/projects/${project.id}`
  await git('-C', 'src', 'tag', 'v1')
  await git('-C', 'src', 'tag', 'w1')
  expect((await push(master, 'v1', 'w1')).code).toBe(0)
  await master.post(`${url}/protected_tags`, { name: 'v*' })
  await master.post(`${url}/protected_tags`, { name: 'dev-*', create_access_level: 30 })
  await commit('Second')
  await git('-C', 'src', 'tag', '-f', 'v1')
  await git('-C', 'src', 'tag', '-f', 'w1')
  await git('-C', 'src', 'tag', 'v2')
  await git('-C', 'src', 'tag', 'dev-1')
  const state = async () => [await at.refs(), await forge.events()]
  const before = await state()
  const EXISTING = 'You are not allowed to change existing tags on this project.'
  const refused: [Person, string, string][] = [
    [developer, '+w1', EXISTING],
    [developer, ':w1', EXISTING],
    [developer, '+v1', EXISTING],
    [master, '+v1', 'Protected tags cannot be updated.'],
    [master, ':v1', 'Protected tags cannot be deleted.'],
    [developer, 'v2', 'You are not allowed to create this tag as it is protected.'],
  ]
  for (const [who, ref, message] of refused) {
    expect((await push(who, ref)).stderr).toContain(`remote: Mortise: ${message}`)
  }
  const byApi = { tag_name: 'v2', ref: 'master' }
  expect(await developer.post(`${url}/repository/tags`, byApi)).toMatchObject({
    status: 400,
    body: { message: 'You are not allowed to create this tag as it is protected.' },
  })
  expect(await state()).toEqual(before)
  for (const [who, ref] of [
    [developer, 'dev-1'],
    [master, 'v2'],
    [master, '+w1'],
  ] as const)
    expect((await push(who, ref)).code).toBe(0)

  // Rejected for pushes only.
  await master.post(`${url}/push_rule`, { deny_delete_tag: true })
  expect((await push(master, ':w1')).stderr).toContain('remote: Mortise: You cannot delete a tag')
  expect((await master.delete(`${url}/repository/tags/w1`)).status).toBe(204)
})

test("the first push to a repository under full protection is a master's", async () => {
  await using forge = await startForge()
  await using at = await stage(forge)
  const { developer, master, git } = at
  const empty = await forge.project({ path: 'bare', namespace_id: at.project.namespace.id })
  const push = (who: Person, to = 'any') => git('-C', 'src', 'push', addressFor(forge, 'team/bare', who), `HEAD:${to}`)
  // A tag is not a branch to start from.
  expect((await push(developer, 'refs/tags/v0')).code).toBe(0)
  forge.clock.advance(MINUTE)
  await forge.settle()
  expect((await master.get(`/projects/${empty.id}`)).body.default_branch).toBe(null)
  const { stderr } = await push(developer)
  expect(stderr).toContain('remote: Mortise: You are not allowed to push code to protected branches on this project.')
  expect((await push(master)).code).toBe(0)
  expect((await master.get(`/projects/${empty.id}`)).body.default_branch).toBe('any')
  expect((await master.get(`/projects/${empty.id}/protected_branches`)).body).toMatchObject([{ name: 'any' }])
})

test('rules are asked in their order, of each commit and then of each path', async () => {
  await using forge = await startForge()
  await using at = await stage(forge)
  const { project, developer, master, commit, push, git } = at
  await git('-C', 'src', 'branch', 'origin')
  await master.post(`/projects/${project.id}/push_rule`, {
    commit_message_regex: '^OK',
    author_email_regex: '@(corp.)?example.com$',
    member_check: true,
    file_name_regex: '\\.exe$',
    max_file_size: 1,
  })
  await forge.user({ username: 'ada' })
  const as = async (author: string, message: string, files: Record<string, string | Buffer> = {}) => {
    await commit(message, files)
    await git('-C', 'src', 'commit', '-q', '--amend', '--allow-empty', '--no-edit', `--author=A <${author}>`)
  }
  const big = Buffer.alloc(1024 * 1024 + 1)
  const table: [() => Promise<unknown>, string][] = [
    [() => as('x@y', 'Bad', { 'a.exe': big }), "Commit message does not follow the pattern '^OK'"],
    [
      () => as('x@y', 'OK', { 'a.exe': big }),
      "Author's email 'x@y' does not follow the pattern '@(corp.)?example.com$'",
    ],
    [() => as('Eve@example.com', 'OK', { 'a.exe': big }), "Author 'Eve@example.com' is not a member of team"],
    [() => as('ADA@example.com', 'OK', { 'a.exe': big }), 'File name a.exe was blacklisted by the pattern \\.exe$.'],
    [
      () => as('ada@example.com', 'OK', { 'a.bin': big, 'b.exe': 'x' }),
      'File "a.bin" is larger than the allowed size of 1 MB',
    ],
    // The older commit is checked first, whatever is wrong with the newer one.
    [
      async () => {
        await as('ada@example.com', 'OK', { 'a.exe': 'x' })
        await as('ada@example.com', 'Bad')
      },
      'File name a.exe was blacklisted by the pattern \\.exe$.',
    ],
  ]
  const refs = await at.refs()
  for (const [work, message] of table) {
    await at.reset()
    await work()
    expect((await push(developer, 'HEAD:topic')).stderr).toContain(`remote: Mortise: ${message}`)
  }
  expect(await at.refs()).toBe(refs)
  const edit = { branch: 'topic', start_branch: 'master', content: 'x', commit_message: 'Bad' }
  expect(await developer.post(`/projects/${project.id}/repository/files/x`, edit)).toMatchObject({
    status: 400,
    body: { message: "Commit message does not follow the pattern '^OK'" },
  })

  // An older version may have stored this.
  await forge.app.db.updateTable('push_rules').set({ file_name_regex: '(' }).execute()
  await at.reset()
  await as('ada@example.com', 'OK')
  expect((await push(developer, 'HEAD:topic')).stderr).toMatch(/Mortise: Regular expression '\(' is invalid: \w/)
  expect(await at.refs()).toBe(refs)
})

test('a tag that is deleted by a push takes its release along', async () => {
  await using forge = await startForge()
  await using at = await stage(forge)
  const { project, master, push, git } = at
  const url = `/projects/${project.id}/releases`
  for (const tag of ['v1', 'v2', 'v3']) await git('-C', 'src', 'tag', tag)
  await push(master, 'v1', 'v2', 'v3')
  for (const tag_name of ['v1', 'v2']) await master.post(url, { tag_name, description: 'News' })
  expect((await push(master, ':v1', ':v3')).code).toBe(0)
  expect((await master.get(url)).body).toMatchObject([{ tag_name: 'v2' }])
  expect((await forge.events()).slice(-2)).toEqual(['repository.changed', 'release.deleted'])
})

test('nothing stays under way once it is over, whichever way it ended', async () => {
  await using forge = await startForge()
  await using at = await stage(forge)
  const { project, master, commit, push } = at
  await commit('Second')
  await push(master, 'master')
  const file = { branch: 'master', content: 'x', commit_message: 'Add' }
  await master.post(`/projects/${project.id}/repository/files/x`, file)
  await master.post(`/projects/${project.id}/wikis`, { title: 'Home', content: 'x' })
  const dir = { branch: 'master/below', ref: 'master' }
  expect((await master.post(`/projects/${project.id}/repository/branches`, dir)).status).toBe(400)
  expect(await forge.app.db.selectFrom('pending_changes').selectAll().execute()).toEqual([])
  expect((await forge.events()).filter((name) => name === 'repository.changed')).toHaveLength(4)
})

test('twenty at once: to branches of their own all come in, to one branch one does', async () => {
  await using forge = await startForge()
  await using at = await stage(forge)
  const { developer, commit, push, git } = at
  const tips: string[] = []
  for (let n = 0; n < 20; n++) {
    await git('-C', 'src', 'switch', '-q', '-C', `b${n}`, 'master')
    await commit(`Work ${n}`)
    tips.push((await git('-C', 'src', 'rev-parse', 'HEAD')).stdout)
  }
  const apart = await Promise.all(tips.map((tip, n) => push(developer, `${tip}:refs/heads/own${n}`)))
  expect(apart.map(({ code }) => code)).toEqual(tips.map(() => 0))
  expect((await push(developer, 'master:refs/heads/one')).code).toBe(0)
  const together = await Promise.all(tips.map((tip) => push(developer, `${tip}:refs/heads/one`)))
  expect(together.filter(({ code }) => code === 0)).toHaveLength(1)
  const won = tips[together.findIndex(({ code }) => code === 0)]
  expect(await at.refs()).toContain(`${won}\trefs/heads/one`)
})
