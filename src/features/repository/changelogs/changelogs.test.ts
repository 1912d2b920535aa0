import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { groupOf, projectIn } from '../../../../test/groups.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { closeReaders } from '../../../git/process/readers.ts'
import { insertNotes } from './notes.ts'

/** `v1.0.0`, then an addition, a commit without a trailer, a fix, and an addition that is reverted. */
async function history(forge: TestForge) {
  const project = await projectIn(forge, await groupOf(forge, 'tools'), 'saw')
  const commit = (message: string, n: number) => ({ message, files: { [`${n}.txt`]: String(n) } })
  const dir = await fillProject(
    forge,
    project.id,
    ...['first\n', 'Add teeth\n\nSharper.\n\nChangelog: added\n', 'Tidy\n', 'Mend\n\nchangelog: fixed\n'].map(commit),
    commit('Add rust\n\nChangelog: added\n', 8),
  )
  const git = (...args: string[]) => execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8' }).trim()
  const [rust, mend, , teeth, first] = git('rev-list', 'master').split('\n') as [string, string, string, string, string]
  git('tag', 'v1.0.0', first)
  git('tag', 'v0.9.0', first)
  git('tag', 'v2.0.0', rust)
  git('tag', 'v1.5.0-rc1', mend)
  closeReaders(dir)
  const url = `/projects/${project.id}/repository`
  const taken = { branch: 'master', commit_message: `Revert\n\nThis reverts commit ${rust}.` }
  await forge.administrator.post(`${url}/commits`, {
    ...taken,
    actions: [{ action: 'delete', file_path: '8.txt' }],
  })
  return { url, rust, mend, teeth, first }
}

test('the notes tell what commits say of themselves since the version before', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { url, mend, teeth } = await history(forge)
  const notes = `## 1.5.0 (2026-02-03)

### fixed (1 change)

- [Mend](tools/saw@${mend})

### added (1 change)

- [Add teeth](tools/saw@${teeth})
`
  const asked = { version: '1.5.0', date: '2026-02-03T04:05:06Z' }
  expect((await root.get(`${url}/changelog`, asked)).body).toEqual({ notes })
  const upTo = await root.get(`${url}/changelog`, { ...asked, from: 'v1.0.0', to: teeth })
  expect(upTo.body.notes).toContain('### added (1 change)')
  expect(upTo.body.notes).not.toContain('fixed')
  const other = await root.get(`${url}/changelog`, { ...asked, trailer: 'Kind' })
  expect(other.body.notes).toBe('## 1.5.0 (2026-02-03)\n\nNo changes.\n')
})

test('they are added to a file in the order of versions, once', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { url } = await history(forge)
  const add = (version: string, more = {}) =>
    root.post(`${url}/changelog`, { version, from: 'v1.0.0', date: '2026-02-03', ...more })
  const content = async () => (await root.get(`${url}/files/CHANGELOG.md/raw`, { ref: 'master' })).body
  const headings = async () => String(await content()).match(/^## \S+/gm)

  expect(await add('1.5.0')).toMatchObject({ status: 200, body: true })
  expect((await root.get(`${url}/commits`)).body[0].title).toBe('Add changelog for version 1.5.0')
  await add('1.7.0', { message: 'Tell of 1.7.0' })
  expect((await root.get(`${url}/commits`)).body[0].title).toBe('Tell of 1.7.0')
  await add('1.6.0')
  expect(await headings()).toEqual(['## 1.7.0', '## 1.6.0', '## 1.5.0'])
  const before = await content()
  expect((await add('1.6.0')).status).toBe(200)
  expect(await content()).toBe(before)
})

test('refusals write nothing', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { url } = await history(forge)
  const unspecified =
    'Failed to generate the changelog: The commit start range is unspecified, and no previous tag could be found to use instead'
  expect(await root.get(`${url}/changelog`, { version: '0.1.0' })).toMatchObject({
    status: 422,
    body: { message: unspecified },
  })
  const gone = { version: '1.5.0', from: 'nowhere' }
  expect((await root.post(`${url}/changelog`, gone)).status).toBe(422)
  for (const version of ['', 'next', '1', '1.0', '1.0.0\n## x']) {
    expect((await root.post(`${url}/changelog`, { version })).status, version).toBe(400)
  }
  expect((await root.post(`${url}/changelog`, { version: '1.5.0', trailer: 'a b' })).status).toBe(400)
  expect((await root.get(`${url}/files/CHANGELOG.md`, { ref: 'master' })).status).toBe(404)
})

test.each([
  ['', '## 1.0.0\n'],
  ['# Changes\n', '# Changes\n\n## 1.0.0\n'],
  ['# Changes\n\n## 0.9.0 (x)\n\nold\n', '# Changes\n\n## 1.0.0\n\n## 0.9.0 (x)\n\nold\n'],
  ['## 1.1.0\n\nnew\n', '## 1.1.0\n\nnew\n\n## 1.0.0\n'],
  ['## 1.0.0\n', null],
])('into %j', (content, expected) => {
  expect(insertNotes(content, '1.0.0', '## 1.0.0\n')).toBe(expected)
})
