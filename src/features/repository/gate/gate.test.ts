import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { addressFor, workplace } from '../../../../test/workplace.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

/** A project of a master's with one commit on `master`, and a clone of it. */
async function stage(forge: TestForge) {
  const work = await workplace()
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
  const refs = await at.refs()
  for (const [wish, [message, files], said] of table) {
    await rule({ ...OFF, ...wish })
    await at.reset()
    await commit(message, files)
    const before = await forge.events()
    const { code, stderr } = await push(developer, 'HEAD:topic')
    expect([said, code, stderr]).toEqual([said, 1, expect.stringContaining(`remote: Mortise: ${said}`)])
    expect(stderr).toContain('(pre-receive hook declined)')
    expect(await forge.events()).toEqual(before)
  }
  expect(await at.refs()).toBe(refs)

  const allowed: [Record<string, unknown>, [string, Record<string, string>?]][] = [
    [{ branch_name_regex: '^topic' }, ['x']],
    [{ commit_message_regex: '^JIRA-\\d+' }, ['text\n\nJIRA-1 closed']],
    [{ prevent_secrets: true }, ['x', { 'id_rsa.pub': '', 'docs/aws/credentials.md': '', xhistory: '' }]],
    [{ file_name_regex: 'xhistory' }, ['x', { xhistory: 'changed only' }]],
  ]
  for (const [n, [wish, [message, files]]] of allowed.entries()) {
    await rule({ ...OFF, ...wish })
    await commit(message, files)
    expect([wish, await push(developer, `HEAD:topic${n}`)]).toMatchObject([wish, { code: 0 }])
  }
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
  for (const [asked, said] of refused) {
    const { stderr } = await asked
    expect(stderr).toContain(`remote: Mortise: ${said}`)
  }
  expect((await push(developer, 'HEAD:refs/merge-requests/1/head')).stderr).toContain('deny updating a hidden ref')
  // One bad ref cancels all.
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

test('twenty at once: to branches of their own all come in, to one branch one does', { timeout: 60_000 }, async () => {
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
