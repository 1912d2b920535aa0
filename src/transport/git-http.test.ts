import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { authorizationOf } from '../../test/lfs.ts'
import { addressFor, workspace } from '../../test/workspace.ts'
import { repositoryDir } from '../features/projects/repositories/repository.ts'
import { startForge, type Person, type TestForge } from '../forge.ts'
import { FLUSH, pktLine } from '../git/protocol/pkt-line.ts'
import { isQuarantine } from '../git/push/quarantine.ts'
import { NO_OBJECT } from '../git/refs/update.ts'
import { findRepository } from './locations.ts'

test('a repository is pushed to, cloned and fetched from with plain git, in every protocol', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine', visibility: 'public' }, ann)
  const { git } = work
  await git('init', '-q', '-b', 'trunk', 'src')
  await writeFile(join(work.folder, 'src', 'README.md'), '# Engine\n')
  await git('-C', 'src', 'add', '.')
  await git('-C', 'src', 'commit', '-qm', 'First')
  const pushed = await git('-C', 'src', 'push', addressFor(forge, 'ann/engine', ann), 'trunk', '--tags')
  expect(pushed).toMatchObject({ code: 0, stderr: expect.stringContaining('[new branch]') })

  const head = (await git('-C', 'src', 'rev-parse', 'HEAD')).stdout
  expect((await ann.get(`/projects/${project.id}`)).body).toMatchObject({ default_branch: 'trunk', empty_repo: false })
  expect(await forge.events()).toContain('repository.changed')
  for (const version of ['0', '1', '2']) {
    const clone = await git(
      '-c',
      `protocol.version=${version}`,
      'clone',
      '-q',
      addressFor(forge, 'ann/engine'),
      version,
    )
    expect([version, clone]).toMatchObject([version, { code: 0 }])
    expect((await git('-C', version, 'rev-parse', 'HEAD')).stdout).toBe(head)
  }
  const shallow = await git('clone', '-q', '--depth=1', '--filter=blob:none', addressFor(forge, 'ANN/Engine'), 'thin')
  expect(shallow.code).toBe(0)

  forge.clock.advance(10_000)
  await forge.settle()
  const { body } = await ann.get(`/projects/${project.id}`, { statistics: true })
  expect(body.statistics.commit_count).toBe(1)
  expect(body.readme_url).toBe(`${forge.url}/ann/engine/-/blob/trunk/README.md`)

  await git('-C', 'src', 'switch', '-qc', 'topic')
  await git('-C', 'src', 'commit', '-qm', 'Second', '--allow-empty')
  const linked = await git('-C', 'src', 'push', addressFor(forge, 'ann/engine', ann), 'topic')
  expect(linked.stderr).toContain(`remote: To create a merge request for topic, visit:`)
  const many = Array.from({ length: 12 }, (_, n) => `topic:refs/heads/t${n}`)
  const words = (await git('-C', 'src', 'push', addressFor(forge, 'ann/engine', ann), ...many)).stderr
  expect(words.match(/To create a merge request/g)).toHaveLength(10)
})

test('a rejected caller sees the reason, and nothing changes', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const [ann, ben] = [await forge.user({ username: 'ann' }), await forge.user({ username: 'ben' })]
  await forge.project({ path: 'open', visibility: 'public' }, ann)
  await forge.project({ path: 'closed' }, ann)
  const { git } = work
  await git('init', '-q', '-b', 'master', 'src')
  await git('-C', 'src', 'commit', '-qm', 'First', '--allow-empty')
  for (const path of ['ann/open', 'ann/closed'])
    await git('-C', 'src', 'push', '-q', addressFor(forge, path, ann), 'master')
  await git('-C', 'src', 'commit', '-qm', 'Second', '--allow-empty')
  const before = await forge.events()

  const push = (path: string, who?: Person, ...more: string[]) =>
    git('-C', 'src', 'push', ...more, addressFor(forge, path, who), 'HEAD:master')
  const table: [string, Promise<{ code: number; stderr: string }>, string][] = [
    ['a visitor', push('ann/open'), 'could not read Username'],
    ['a stranger', push('ann/open', ben), 'You are not allowed to push code to this project.'],
    ['a stranger, on what they cannot see', push('ann/closed', ben), 'could not be found'],
    ['nowhere', push('ann/nothing', ann), 'could not be found'],
    ['a clone of a private project', git('clone', addressFor(forge, 'ann/closed'), 'x'), 'could not read Username'],
  ]
  for (const [what, request, message] of table) {
    const { code, stderr } = await request
    expect([what, code === 0, stderr]).toEqual([what, false, expect.stringContaining(message)])
  }
  expect(await forge.events()).toEqual(before)

  await git('-C', 'src', 'commit', '-qm', 'Other', '--amend', '--allow-empty')
  await git('-C', 'src', 'push', '-q', addressFor(forge, 'ann/open', ann), 'HEAD:master')
  await git('-C', 'src', 'commit', '-qm', 'Rewritten', '--amend', '--allow-empty')
  const forced = await push('ann/open', ann, '--force')
  expect(forced.stderr).toContain(
    'remote: Mortise: You are not allowed to force push code to a protected branch on this project.',
  )
  expect(forced.stderr).toContain('(pre-receive hook declined)')
})

const EMPTY_PACK = Buffer.from('5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e', 'hex')

/** Pushes a new branch. The pack is sent only after something else has happened. */
async function pushAround(forge: TestForge, who: Person, after: string, meanwhile: () => Promise<unknown>) {
  const { project } = (await findRepository(forge.app, 'ann/open'))!
  const objects = join(repositoryDir(forge.app, project), 'objects')
  async function* body() {
    yield Buffer.concat([pktLine(`${NO_OBJECT} ${after} refs/heads/late\0report-status side-band-64k`), FLUSH])
    await vi.waitUntil(async () => (await readdir(objects)).some(isQuarantine))
    await meanwhile()
    yield EMPTY_PACK
  }
  const answer = await fetch(`${forge.url}/ann/open.git/git-receive-pack`, {
    method: 'POST',
    headers: { Authorization: authorizationOf(who)!, 'Content-Type': 'application/x-git-receive-pack-request' },
    body: ReadableStream.from(body()),
    duplex: 'half',
  } as RequestInit)
  return answer.text()
}

test('who loses the right to push while the pack comes has lost the push', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const [ann, ben] = [await forge.user({ username: 'ann' }), await forge.user({ username: 'ben' })]
  const { id } = await forge.project({ path: 'open' }, ann)
  const { git } = work
  await git('init', '-q', '-b', 'master', 'src')
  await git('-C', 'src', 'commit', '-qm', 'First', '--allow-empty')
  await git('-C', 'src', 'push', '-q', addressFor(forge, 'ann/open', ann), 'master')
  const head = (await git('-C', 'src', 'rev-parse', 'HEAD')).stdout
  const [url, member] = [`/projects/${id}`, `/projects/${id}/members/${ben.id}`]
  await ann.post(`${url}/members`, { user_id: ben.id, access_level: 30 })

  const root = forge.administrator
  const cases: [() => Promise<unknown>, string, () => Promise<unknown>][] = [
    [
      () => ann.post(`${url}/archive`),
      "You can't push code to an archived project.",
      () => ann.post(`${url}/unarchive`),
    ],
    [
      () => root.post(`/users/${ben.id}/block`),
      'account has been blocked',
      () => root.post(`/users/${ben.id}/unblock`),
    ],
    [
      () => ann.put(member, { access_level: 20 }),
      'not allowed to push code',
      () => ann.put(member, { access_level: 30 }),
    ],
    [
      () => ann.delete(member),
      'could not be found',
      () => ann.post(`${url}/members`, { user_id: ben.id, access_level: 30 }),
    ],
  ]
  const before = (await ann.get(`${url}/repository/branches`)).body
  for (const [meanwhile, message, undo] of cases) {
    const answer = await pushAround(forge, ben, head, meanwhile)
    expect(answer).toContain(message)
    expect(answer).toContain('ng refs/heads/late pre-receive hook declined')
    await undo()
  }
  expect((await ann.get(`${url}/repository/branches`)).body).toEqual(before)
  const moved = await pushAround(forge, ben, head, () => ann.put(url, { path: 'renamed' }))
  expect(moved).toContain(`${forge.url}/ann/renamed/-/merge_requests/new`)
  expect((await ann.get(`${url}/repository/branches`)).body).toHaveLength(2)
})

test('of first pushes at the same time one names the default branch', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const ann = await forge.user({ username: 'ann' })
  const { git } = work
  await git('init', '-q', '-b', 'master', 'src')
  await git('-C', 'src', 'commit', '-qm', 'First', '--allow-empty')
  const project = await forge.project({ path: 'busy' }, ann)
  const address = addressFor(forge, 'ann/busy', ann)
  const names = ['a', 'b', 'c', 'd']
  await Promise.all(names.map((name) => git('-C', 'src', 'push', '-q', address, `HEAD:refs/heads/${name}`)))
  const { default_branch: name } = (await ann.get(`/projects/${project.id}`)).body
  const { stdout } = await git('ls-remote', '--symref', address, 'HEAD')
  expect(stdout).toContain(`ref: refs/heads/${name}\tHEAD`)
  expect((await ann.get(`/projects/${project.id}/protected_branches`)).body).toMatchObject([{ name }])
})
