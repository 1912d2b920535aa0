import { expect, test } from 'vitest'
import { LfsClient, authorizationOf, objectOf } from '../../../../test/lfs.ts'
import { addKey, newKey, sshPortOf, startSshForge } from '../../../../test/ssh.ts'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { addMember } from '../../../../test/cast.ts'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

/** A public project of Jane, a fork of Joe, and a merge request from `feature` in the fork to `dev`. */
async function stage(forge: TestForge, input: Record<string, unknown> = { allow_collaboration: true }) {
  const [jane, joe] = [await forge.user({ username: 'jane' }), await forge.user({ username: 'joe' })]
  const project = await forge.project({ path: 'tools', visibility: 'public' }, jane)
  await forge.seed(project, { 'a.txt': 'one\n' }, { as: jane })
  await jane.post(`/projects/${project.id}/repository/branches`, { branch: 'dev', ref: 'master' })
  const fork = (await joe.post(`/projects/${project.id}/fork`)).body
  await forge.settle()
  await forge.seed(fork, { 'b.txt': 'two\n' }, { as: joe, branch: 'feature' })
  await forge.seed(fork, { 'c.txt': 'three\n' }, { as: joe, branch: 'other' })
  const request = { source_branch: 'feature', target_branch: 'dev', title: 'Mine', target_project_id: project.id }
  const made = await joe.post(`/projects/${fork.id}/merge_requests`, { ...request, ...input })
  const url = `/projects/${project.id}/merge_requests/${made.body.iid}`
  const member = async (target: number, source = 0) => {
    const person = await forge.user()
    if (target) await addMember(forge, { project_id: project.id }, person.id, target)
    if (source) await addMember(forge, { project_id: fork.id }, person.id, source)
    return person
  }
  let count = 0
  const write = (who: Person, branch = 'feature', more: Record<string, unknown> = {}) =>
    who.post(`/projects/${fork.id}/repository/commits`, {
      branch,
      commit_message: 'Help',
      actions: [{ action: 'create', file_path: `help${++count}.txt`, content: 'help\n' }],
      ...more,
    })
  const refs = async () => {
    const { body } = await joe.get(`/projects/${fork.id}/repository/branches`)
    return body.map(({ name, commit }: { name: string; commit: { id: string } }) => `${name} ${commit.id}`)
  }
  return { jane, joe, project, fork, made, url, member, write, refs }
}

test('who may merge it may push to its source, and nowhere else', async () => {
  await using forge = await startForge()
  const { member, write, refs, fork, made, project, jane } = await stage(forge)
  expect(made.body).toMatchObject({ allow_collaboration: true, allow_maintainer_to_push: true })
  // Rows: the role on the target. Columns: the role on the source (none, reporter, developer).
  const TABLE: [number, number[]][] = [
    [0, [403, 403, 201]],
    [20, [403, 403, 201]],
    [30, [201, 201, 201]],
    [40, [201, 201, 201]],
  ]
  for (const [target, codes] of TABLE) {
    for (const [n, source] of [0, 20, 30].entries()) {
      const person = await member(target, source)
      const before = await refs()
      const { status } = await write(person)
      expect([target, source, status]).toEqual([target, source, codes[n]])
      const tip = (await person.get(`/projects/${fork.id}/repository/branches/feature`)).body
      expect([target, source, tip.can_push]).toEqual([target, source, codes[n] === 201])
      const isMoved = JSON.stringify(await refs()) !== JSON.stringify(before)
      expect([target, source, isMoved]).toEqual([target, source, status === 201])
    }
  }

  const helper = await member(30)
  const at = `/projects/${fork.id}/repository`
  const before = await refs()
  const commits = (await helper.get(`${at}/commits`, { ref_name: 'feature' })).body
  for (const [branch, more] of [
    ['other', {}],
    ['master', {}],
    ['new', { start_branch: 'feature' }],
    ['Feature', {}],
    ['feature/x', { start_branch: 'feature' }],
  ] as const)
    expect([branch, (await write(helper, branch, more)).status]).toEqual([branch, 403])
  const others: [string, string, Record<string, unknown>][] = [
    ['POST', `${at}/branches`, { branch: 'feature2', ref: 'feature' }],
    ['DELETE', `${at}/branches/feature`, {}],
    ['POST', `${at}/tags`, { tag_name: 'v1', ref: 'feature' }],
    ['POST', `${at}/commits/${commits[0].id}/cherry_pick`, { branch: 'other' }],
    ['POST', `${at}/commits/${commits[0].id}/revert`, { branch: 'other' }],
    ['POST', `/projects/${fork.id}/merge_requests`, { source_branch: 'other', target_branch: 'master', title: 'x' }],
    ['POST', `/projects/${fork.id}/protected_branches`, { name: 'feature' }],
  ]
  for (const [method, path, input] of others)
    expect([method, path, (await helper.request(method, path, input)).status]).toEqual([method, path, 403])
  expect(await refs()).toEqual(before)

  const file = { branch: 'feature', content: 'x\n', commit_message: 'Edit' }
  expect((await helper.post(`${at}/files/d.txt`, file)).status).toBe(201)
  expect((await helper.put(`${at}/files/d.txt`, { ...file, content: 'y\n' })).status).toBe(200)
  expect((await helper.delete(`${at}/files/d.txt`, file)).status).toBe(204)
  expect((await helper.post(`${at}/commits/${commits[0].id}/revert`, { branch: 'feature' })).status).toBe(201)
  const list = (await helper.get(`${at}/branches`)).body
  expect(list.map(({ name, can_push }: { name: string; can_push: boolean }) => [name, can_push])).toEqual([
    ['dev', false],
    ['feature', true],
    ['master', false],
    ['other', false],
  ])

  // A user who may not merge into the target may not push to the source.
  await jane.post(`/projects/${project.id}/protected_branches`, { name: 'dev' })
  expect((await write(helper)).status).toBe(403)
  expect((await write(await member(40))).status).toBe(201)
})

test('it ends with the request, the switch, the rights and what may be seen', async () => {
  await using forge = await startForge()
  const { jane, joe, project, fork, url, member, write, refs } = await stage(forge)
  const helper = await member(30)
  const bar = async (what: string, off: () => Promise<{ status: number }>, on: () => Promise<{ status: number }>) => {
    expect([what, (await off()).status]).toEqual([what, 200])
    const before = await refs()
    expect([what, (await write(helper)).status]).not.toEqual([what, 201])
    expect(await refs()).toEqual(before)
    expect([what, (await on()).status]).toEqual([what, 200])
    expect([what, (await write(helper)).status]).toEqual([what, 201])
  }
  await bar(
    'the switch',
    () => joe.put(url, { allow_maintainer_to_push: false }),
    () => joe.put(url, { allow_collaboration: true }),
  )
  await bar(
    'closed',
    () => helper.put(url, { state_event: 'close' }),
    () => helper.put(url, { state_event: 'reopen' }),
  )
  await bar(
    'the role',
    () => jane.put(`/projects/${project.id}/members/${helper.id}`, { access_level: 20 }),
    () => jane.put(`/projects/${project.id}/members/${helper.id}`, { access_level: 30 }),
  )
  await bar(
    'a private fork',
    () => joe.put(`/projects/${fork.id}`, { visibility: 'private' }),
    () => joe.put(`/projects/${fork.id}`, { visibility: 'public' }),
  )
  await bar(
    'code for members',
    () => joe.put(`/projects/${fork.id}`, { repository_access_level: 'private' }),
    () => joe.put(`/projects/${fork.id}`, { repository_access_level: 'enabled' }),
  )
  expect((await joe.post(`/projects/${fork.id}/protected_branches`, { name: 'feat*' })).status).toBe(201)
  const before = await refs()
  expect(await write(helper)).toMatchObject({
    status: 400,
    body: { message: 'You are not allowed to push into this branch' },
  })
  expect(await refs()).toEqual(before)
  await joe.delete(`/projects/${fork.id}/protected_branches/feat*`)
  expect((await write(helper)).status).toBe(201)
  expect((await helper.put(`${url}/merge`)).body).toMatchObject({ state: 'merged' })
  expect((await write(helper)).status).toBe(403)
})

test('only who may push to the source shares it, and only what all can see', async () => {
  await using forge = await startForge()
  const { jane, joe, project, fork, url, member } = await stage(forge, {})
  const share = async (who: Person) => (await who.put(url, { allow_collaboration: true, title: 'T' })).body
  expect(await share(jane)).toMatchObject({ title: 'T', allow_collaboration: false })
  expect(await share(await member(40, 20))).toMatchObject({ allow_collaboration: false })
  await joe.put(`/projects/${fork.id}`, { visibility: 'private' })
  expect(await share(joe)).toMatchObject({ allow_collaboration: false })
  await joe.put(`/projects/${fork.id}`, { visibility: 'internal' })
  await joe.post(`/projects/${fork.id}/protected_branches`, { name: 'feature' })
  expect(await share(joe)).toMatchObject({ allow_collaboration: false })
  await joe.delete(`/projects/${fork.id}/protected_branches/feature`)
  expect(await share(joe)).toMatchObject({ allow_collaboration: true })
  expect((await jane.put(url, { allow_collaboration: false, title: 'U' })).body).toMatchObject({
    title: 'U',
    allow_collaboration: true,
  })
  const own = { source_branch: 'dev', target_branch: 'master', title: 'x', allow_collaboration: true }
  await forge.seed(project, { 'd.txt': 'd\n' }, { as: jane, branch: 'dev' })
  expect((await jane.post(`/projects/${project.id}/merge_requests`, own)).body).toMatchObject({
    allow_collaboration: false,
  })
})

test('pushes over HTTP and SSH, LFS, rebases and suggestions', async () => {
  await using forge = await startSshForge()
  await using work = await workspace()
  const { git, folder } = work
  const { joe, jane, project, fork, made, url, member, refs } = await stage(forge)
  const [helper, reporter] = [await member(30), await member(20)]
  const path = `joe/${fork.path}`
  await git('clone', '-q', addressFor(forge, path), 'src')
  await git('-C', 'src', 'checkout', '-q', 'feature')
  const commit = () => git('-C', 'src', 'commit', '-q', '--allow-empty', '-m', 'Help')
  await commit()
  const NO = 'You are not allowed to push code to this project.'
  const before = await refs()
  const push = (who: Person, ...args: string[]) => git('-C', 'src', 'push', addressFor(forge, path, who), ...args)
  for (const [who, ...args] of [
    [reporter, 'feature'],
    [helper, '+HEAD:other'],
    [helper, 'HEAD:refs/heads/new'],
    [helper, 'HEAD:refs/tags/v1'],
    [helper, 'HEAD:refs/notes/x'],
    [helper, ':feature'],
    [helper, 'feature', '+HEAD:other'],
  ] as const) {
    const { code, stderr } = await push(who, ...args)
    expect([args, code === 0, stderr]).toEqual([args, false, expect.stringContaining(NO)])
  }
  expect(await refs()).toEqual(before)
  expect((await push(helper, 'feature')).code).toBe(0)
  const head = async () => (await git('-C', 'src', 'rev-parse', 'HEAD')).stdout
  expect((await jane.get(url)).body.sha).toBe(await head())

  const key = await newKey()
  await addKey(helper, key)
  await writeFile(join(folder, 'key'), key.private, { mode: 0o600 })
  await chmod(join(folder, 'key'), 0o600)
  const ssh = `ssh -i ${join(folder, 'key')} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes`
  const address = `ssh://git@127.0.0.1:${sshPortOf(forge)}/${path}.git`
  const overSsh = (...args: string[]) => git('-c', `core.sshCommand=${ssh}`, '-C', 'src', 'push', address, ...args)
  await commit()
  expect((await overSsh('+HEAD:other')).stderr).toContain(NO)
  expect((await overSsh('feature')).code).toBe(0)
  expect((await jane.get(url)).body.sha).toBe(await head())

  // LFS objects for the branch may be uploaded; a file lock would affect the whole fork.
  const lfs = (who: Person) => new LfsClient(forge, path, authorizationOf(who))
  await lfs(helper).put(objectOf('a picture'))
  for (const person of [helper, await member(30, 20)])
    expect((await lfs(person).post('info/lfs/locks', { path: 'a.bin' })).status).toBe(403)
  const batch = { operation: 'upload', objects: [objectOf('another')].map(({ oid, size }) => ({ oid, size })) }
  expect((await lfs(reporter).post('info/lfs/objects/batch', batch)).status).toBe(403)

  const file = { position_type: 'text', new_path: 'b.txt', old_path: 'b.txt', new_line: 1 }
  const position = { ...(await jane.get(url)).body.diff_refs, ...file }
  const suggested = await jane.post(`${url}/discussions`, { body: '```suggestion\nTWO\n```', position })
  const { id } = suggested.body.notes[0].suggestions[0]
  expect((await reporter.put(`/suggestions/${id}/apply`)).status).toBe(403)
  expect((await helper.put(`/suggestions/${id}/apply`)).status).toBe(200)
  await forge.seed(project, { 'z.txt': 'z\n' }, { as: jane, branch: 'dev' })
  const was = (await jane.get(url)).body.sha
  expect((await helper.put(`${url}/rebase`)).status).toBe(202)
  expect((await jane.get(url)).body.sha).not.toBe(was)
  await joe.put(url, { allow_collaboration: false })
  expect((await helper.put(`${url}/rebase`)).status).toBe(403)
  expect(made.status).toBe(201)
})
