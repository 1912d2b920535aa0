import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { LfsClient, authorizationOf, objectOf } from '../../../../test/lfs.ts'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

const MISSING = 'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".'
const ATTRIBUTES = '*.bin filter=lfs diff=lfs merge=lfs -text\n'

const pointerTo = ({ oid, size }: { oid: string; size: number }) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`

async function stage(forge: TestForge) {
  const work = await workspace()
  const { git } = work
  const owner = await forge.user({ username: 'ada' })
  const developer = await forge.user({ username: 'dev' })
  const project = await forge.project({ path: 'engine' }, owner)
  await addMember(forge, { project_id: project.id }, developer.id, 30)
  await git('init', '-q', '-b', 'master', 'src')
  const at = (name: string) => join(work.folder, 'src', name)
  const commit = async (files: Record<string, string>) => {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(at(name)), { recursive: true })
      await writeFile(at(name), content)
    }
    await git('-C', 'src', 'add', '-A')
    await git('-C', 'src', 'commit', '-q', '-m', 'Work')
  }
  const address = (who: Person) => addressFor(forge, 'ada/engine', who)
  const push = (who: Person, ...refs: string[]) => git('-C', 'src', 'push', address(who), ...refs)
  const state = async () => [(await git('ls-remote', address(owner))).stdout, await forge.events()]
  await commit({ 'README.md': 'Hello', 'art/a.bin': 'plain', 'art/b.bin': 'plain' })
  expect((await push(owner, 'master')).code).toBe(0)
  await git('-C', 'src', 'tag', 'v0')
  const lfs = (who: Person) => new LfsClient(forge, 'ada/engine', authorizationOf(who))
  return { ...work, at, owner, developer, project, url: `/projects/${project.id}`, commit, push, state, lfs }
}

test('a pointer comes in only after what it points at', async () => {
  await using forge = await startForge()
  await using place = await stage(forge)
  const { owner, developer, commit, push, state, url, git } = place
  const [one, two] = [objectOf('the first picture'), objectOf('the second picture')]
  await commit({ '.gitattributes': ATTRIBUTES, 'big.bin': pointerTo(one) })
  await git('-C', 'src', 'tag', 'v1')
  const before = await state()
  for (const refs of [['HEAD:topic'], ['v1'], ['HEAD:topic', 'HEAD~:refs/heads/free']]) {
    const { code, stderr } = await push(developer, ...refs)
    expect([refs, code, stderr]).toEqual([refs, 1, expect.stringContaining(`remote: Mortise: ${MISSING}`)])
  }
  expect(await state()).toEqual(before)

  // The object of another project does not count here.
  await forge.project({ path: 'other' }, developer)
  await new LfsClient(forge, 'dev/other', authorizationOf(developer)).put(one)
  expect((await push(developer, 'HEAD:topic')).stderr).toContain(MISSING)
  await place.lfs(developer).put(one)
  expect((await push(developer, 'HEAD:topic', 'v1')).code).toBe(0)

  // A delta against the previous pointer.
  await commit({ 'big.bin': pointerTo(two) })
  expect((await push(developer, 'HEAD:topic')).stderr).toContain(MISSING)
  await owner.put(url, { lfs_enabled: false })
  expect((await push(developer, 'HEAD:topic')).code).toBe(0)
  await owner.put(url, { lfs_enabled: true })
  // Existing pointers are not checked again.
  await commit({ 'README.md': 'Hello again' })
  expect((await push(developer, 'HEAD:topic')).code).toBe(0)
})

test('a pointer written through the API, too', async () => {
  await using forge = await startForge()
  await using place = await stage(forge)
  const { owner, developer, url, state } = place
  const file = objectOf('a picture')
  const write = (path: string, content: string, branch = 'topic') =>
    developer.post(`${url}/repository/files/${encodeURIComponent(path)}`, {
      branch,
      start_branch: 'master',
      content,
      commit_message: 'Add',
    })
  const before = await state()
  const actions = [
    { action: 'create', file_path: '.gitattributes', content: ATTRIBUTES },
    { action: 'create', file_path: 'big.bin', content: pointerTo(file) },
  ]
  const commit = { branch: 'topic', start_branch: 'master', commit_message: 'Add', actions }
  expect(await developer.post(`${url}/repository/commits`, commit)).toMatchObject({
    status: 400,
    body: { message: MISSING },
  })
  // Attributes make no difference.
  expect(await write('art/big.bin', pointerTo(file))).toMatchObject({ status: 400, body: { message: MISSING } })
  expect(await state()).toEqual(before)
  await place.lfs(owner).put(file)
  expect((await developer.post(`${url}/repository/commits`, commit)).status).toBe(201)
  expect(await write('other.bin', pointerTo(objectOf('unknown')), 'more')).toMatchObject({
    status: 400,
    body: { message: MISSING },
  })
  expect((await write('other.bin', pointerTo(file), 'more')).status).toBe(201)
})

test('what somebody has locked only they change', async () => {
  await using forge = await startForge()
  await using place = await stage(forge)
  const { owner, developer, commit, push, state, url, git, at } = place
  expect((await place.lfs(owner).post('info/lfs/locks', { path: 'art/a.bin' })).status).toBe(201)
  const locked = "'art/a.bin' is locked in Git LFS by @ada"

  const works: [string, () => Promise<unknown>][] = [
    ['changed', () => commit({ 'art/a.bin': 'other' })],
    ['deleted', () => rm(at('art/a.bin'))],
    ['renamed', () => rename(at('art/a.bin'), at('art/c.bin'))],
    ['changed and put back', () => commit({ 'art/a.bin': 'other' }).then(() => commit({ 'art/a.bin': 'plain' }))],
  ]
  const before = await state()
  for (const [what, work] of works) {
    await git('-C', 'src', 'reset', '-q', '--hard', 'v0')
    await work()
    await commit({})
    for (const door of ['HEAD:topic', 'HEAD:refs/tags/v1', 'HEAD:refs/notes/x']) {
      const { code, stderr } = await push(developer, door)
      expect([what, door, code, stderr]).toEqual([what, door, 1, expect.stringContaining(`remote: Mortise: ${locked}`)])
    }
  }
  const edit = (who: Person, file: string) =>
    who.put(`${url}/repository/files/${encodeURIComponent(file)}`, {
      branch: 'topic',
      start_branch: 'master',
      content: 'new',
      commit_message: 'Edit',
    })
  expect(await edit(developer, 'art/a.bin')).toMatchObject({ status: 400, body: { message: locked } })
  const actions = [{ action: 'delete', file_path: 'art/a.bin' }]
  const input = { branch: 'topic', start_branch: 'master', commit_message: 'Drop', actions }
  expect(await developer.post(`${url}/repository/commits`, input)).toMatchObject({
    status: 400,
    body: { message: locked },
  })
  expect(await state()).toEqual(before)

  expect((await edit(developer, 'art/b.bin')).status).toBe(200)
  await git('-C', 'src', 'reset', '-q', '--hard', 'v0')
  await commit({ 'art/a.bin': 'other' })
  expect((await push(owner, 'HEAD:hers')).code).toBe(0)
  // Her change was accepted. Taking over a file from an existing branch changes nothing.
  expect((await push(developer, 'HEAD:his')).code).toBe(0)
  await owner.put(url, { lfs_enabled: false })
  await commit({ 'art/a.bin': 'once more' })
  expect((await push(developer, 'HEAD:topic2')).code).toBe(0)
})
