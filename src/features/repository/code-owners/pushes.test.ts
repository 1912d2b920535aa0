import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

const MESSAGE = 'match patterns defined in `CODEOWNERS` are disabled for this project'

/** `master` requires code owners, and developers may push there. */
async function stage(forge: TestForge) {
  const jane = await forge.user({ username: 'jane' })
  const group = await forge.group({ path: 'keepers' })
  const project = await forge.project({ path: 'tools' }, jane)
  const member = async (level: number) => {
    const person = await forge.user()
    await addMember(forge, { project_id: project.id }, person.id, level)
    return person
  }
  const [owner, keeper, developer, named] = [await member(30), await member(30), await member(30), await member(30)]
  await addMember(forge, { group_id: group.id }, keeper.id, 10)
  const owners = `*.sql @${owner.username}\n*.md @keepers @${owner.username}\n^[Style]\n*.css @${owner.username}\n`
  await forge.seed(project, { CODEOWNERS: owners, 'a.sql': 'a\n', 'free.txt': 'f\n' }, { as: jane })
  const at = `/projects/${project.id}`
  await jane.delete(`${at}/protected_branches/master`)
  const rule = { name: 'm*', push_access_level: 30, merge_access_level: 30, code_owner_approval_required: true }
  const allowed_to_push = [{ access_level: 30 }, { user_id: named.id }]
  const made = await jane.post(`${at}/protected_branches`, { ...rule, allowed_to_push })
  expect(made).toMatchObject({ status: 201, body: { code_owner_approval_required: true } })
  const refs = async () => {
    const { body } = await jane.get(`${at}/repository/branches`)
    return body.map(({ name, commit }: { name: string; commit: { id: string } }) => `${name} ${commit.id}`)
  }
  let count = 0
  const write = (who: Person, path: string, more: Record<string, unknown> = {}) =>
    who.post(`${at}/repository/commits`, {
      branch: 'master',
      commit_message: 'Change',
      actions: [{ action: 'create', file_path: `${++count}${path}`, content: 'x\n' }],
      ...more,
    })
  return { jane, owner, keeper, developer, named, project, at, refs, write, member }
}

test('what is owned does not come straight onto the branch, by the API', async () => {
  await using forge = await startForge()
  const { jane, owner, keeper, developer, named, at, refs, write } = await stage(forge)
  // By user: files of the owner, of the group, without an owner, and of an optional section.
  const TABLE: [string, Person, number[]][] = [
    ['developer', developer, [400, 400, 201, 201]],
    ['master', jane, [400, 400, 201, 201]],
    ['owner', owner, [201, 201, 201, 201]],
    ['keeper', keeper, [400, 201, 201, 201]],
    ['named', named, [201, 201, 201, 201]],
  ]
  for (const [role, who, codes] of TABLE) {
    for (const [n, path] of ['x.sql', 'x.md', 'x.txt', 'x.css'].entries()) {
      const before = await refs()
      const { status, body } = await write(who, path)
      expect([role, path, status]).toEqual([role, path, codes[n]])
      if (status !== 400) continue
      expect(body.message).toContain(MESSAGE)
      expect(await refs()).toEqual(before)
    }
  }
  const before = await refs()
  const both = [
    { action: 'create', file_path: 'ok.txt', content: 'x\n' },
    { action: 'delete', file_path: 'a.sql' },
  ]
  for (const [what, answer] of [
    ['deleted', await write(developer, '', { actions: both })],
    [
      'moved',
      await write(developer, '', { actions: [{ action: 'move', file_path: 'b.txt', previous_path: 'a.sql' }] }),
    ],
    ['a new branch', await write(developer, 'x.sql', { branch: 'm2', start_branch: 'master' })],
    [
      'a file',
      await developer.put(`${at}/repository/files/a.sql`, { branch: 'master', content: 'b\n', commit_message: 'x' }),
    ],
  ] as const)
    expect([what, answer.status]).toEqual([what, 400])
  expect(await refs()).toEqual(before)
  // On other branches, and for a branch from the current tip, nothing changes.
  expect((await write(developer, 'x.sql', { branch: 'topic', start_branch: 'master' })).status).toBe(201)
  expect((await developer.post(`${at}/repository/branches`, { branch: 'm3', ref: 'master' })).status).toBe(201)
  // A commit that is already on another branch still needs the owners.
  const slipped = await developer.post(`${at}/repository/branches`, { branch: 'm4', ref: 'topic' })
  expect(slipped).toMatchObject({ status: 400, body: { message: expect.stringContaining(MESSAGE) } })

  expect(
    (await jane.request('PATCH', `${at}/protected_branches/m*`, { code_owner_approval_required: false })).status,
  ).toBe(200)
  expect((await write(developer, 'x.sql')).status).toBe(201)
})

test('nor by a push, whatever it brings along; a merge request does', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const { owner, developer, at, refs, write } = await stage(forge)
  const { git } = work
  await git('clone', '-q', addressFor(forge, 'jane/tools', developer), 'src')
  const push = (...args: string[]) => git('-C', 'src', 'push', addressFor(forge, 'jane/tools', developer), ...args)
  const commit = (...args: string[]) => git('-C', 'src', 'commit', '-q', '-m', 'Work', ...args)
  await git('-C', 'src', 'mv', 'a.sql', 'b.sql')
  // The push itself cannot change the rules by editing the file.
  await git('-C', 'src', 'rm', '-q', 'CODEOWNERS')
  await commit()
  const before = await refs()
  for (const args of [['HEAD:master'], ['HEAD:m2'], ['HEAD:topic', 'HEAD:master']]) {
    const { code, stderr } = await push(...args)
    expect([args, code === 0]).toEqual([args, false])
    expect(stderr).toContain(MESSAGE)
    expect(stderr).toContain('- *.sql')
  }
  expect(await refs()).toEqual(before)
  expect((await push('HEAD:topic')).code).toBe(0)
  expect((await push('HEAD:master')).stderr).toContain(MESSAGE)

  const url = `${at}/merge_requests`
  await write(developer, 'x.sql', { branch: 'change', start_branch: 'master' })
  const made = await developer.post(url, { source_branch: 'change', target_branch: 'master', title: 'x' })
  expect((await developer.put(`${url}/${made.body.iid}/merge`)).status).toBe(405)
  await owner.post(`${url}/${made.body.iid}/approve`)
  expect((await developer.put(`${url}/${made.body.iid}/merge`)).body).toMatchObject({ state: 'merged' })
})
