import { expect, test } from 'vitest'
import { longestStall } from '../../../../test/effort.ts'
import { importCommits, type BuiltCommit } from '../../../../test/git-builder.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { dirOf } from '../../../../test/reviews.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

async function started(forge: TestForge) {
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  return { jane, project, dir: await dirOf(forge, project.id) }
}

async function propose(jane: Person, { id }: { id: number }) {
  const input = { source_branch: 'feature', target_branch: 'master', title: 'Much' }
  const made = await jane.post(`/projects/${id}/merge_requests`, input)
  expect(made.status).toBe(201)
  return { made: made.body, url: `/projects/${id}/merge_requests/1` }
}

/** A merge request with one commit on top of another. */
async function proposed(forge: TestForge, before: BuiltCommit['files'], after: BuiltCommit['files'] = {}) {
  const { jane, project, dir } = await started(forge)
  await importCommits(dir, [
    { files: { README: 'x\n', ...before } },
    { branch: 'feature', from: 'refs/heads/master', files: after },
  ])
  return { jane, ...(await propose(jane, project)) }
}

const files = (count: number, content: (n: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`dir${n % 97}/file${n}.txt`, content(n)]))

test('a change of 500 files is told whole, in pages and in one', async () => {
  await using forge = await startForge()
  const { jane, made, url } = await proposed(
    forge,
    {},
    files(500, (n) => `${n}\n`.repeat(50)),
  )
  expect(made.changes_count).toBe('500')
  const { answer, stall } = await longestStall(() => jane.get(`${url}/changes`))
  expect(answer.body.changes).toHaveLength(500)
  expect(answer.body.overflow).toBe(false)
  expect(stall).toBeLessThan(500)
  const page = await jane.get(`${url}/diffs`, { per_page: 100, page: 5 })
  expect(page.body).toHaveLength(100)
  expect(page.headers.get('x-total')).toBe('500')
})

test.each([
  ['1000 files', 1100, 'x\n', '1000+'],
  ['50,000 lines', 60, 'x\n'.repeat(1000), null],
  ['5 MB', 80, `${'x'.repeat(80_000)}\n`, null],
] as const)('what is over %s is left out, and that is said', async (_what, count, content, real_size) => {
  await using forge = await startForge()
  const { jane, url } = await proposed(
    forge,
    {},
    files(count, () => content),
  )
  const { body } = await jane.get(`${url}/changes`)
  expect(body.overflow).toBe(true)
  expect(body.changes_count).toMatch(/^\d+\+$/)
  expect(JSON.stringify(body).length).toBeLessThan(8_000_000)
  const [version] = (await jane.get(`${url}/versions`)).body
  expect(version).toMatchObject({ state: 'overflow', real_size: real_size ?? body.changes_count })
  expect((await jane.get(`${url}/versions/${version.id}`)).body.diffs).toHaveLength(body.changes.length)
  // One patch contains everything.
  const raw = await jane.get(`${url}/raw_diffs`)
  expect(raw.body.match(/^diff --git /gm)).toHaveLength(count)
})

test('a file of its own over 100 KB has no text, unless it is asked for', async () => {
  await using forge = await startForge()
  const big = 'some words\n'.repeat(15_000)
  const { jane, url } = await proposed(forge, {}, { big, small: 'x\n' })
  const expected = { new_path: 'big', diff: '', too_large: true, new_file: true }
  expect((await jane.get(`${url}/changes`)).body).toMatchObject({ overflow: false, changes: [expected, {}] })
  expect((await jane.get(`${url}/diffs`)).body).toMatchObject([expected, { new_path: 'small' }])
  const whole = (await jane.get(`${url}/changes`, { access_raw_diffs: true })).body
  expect(whole.changes[0]).toMatchObject({ too_large: false })
  expect(whole.changes[0].diff).toHaveLength('--- /dev/null\n+++ b/big\n@@ -0,0 +1,15000 @@\n'.length + 12 * 15_000)
})

test('odd names, modes, links, submodules and bytes are told as they are', async () => {
  await using forge = await startForge()
  const odd = ['a b', 'ü', '"q"', 'tab\there', 'line\nbreak', '-n', ':(top)', '+++ b', 'diff --git a', '*']
  const all = (text: string) => Object.fromEntries(odd.map((name) => [name, text]))
  const at = (digit: string) => ({ mode: '160000', content: digit.repeat(40) })
  const { jane, url } = await proposed(
    forge,
    { ...all('one\n'), run: 'x\n', kind: 'text\n', module: at('1'), image: '\0one', gone: 'x\n', empty: '' },
    {
      ...all('two\n'),
      run: { mode: '100755', content: 'x\n' },
      kind: { mode: '120000', content: 'run' },
      module: at('2'),
      image: '\0two',
      gone: null,
      '\xff\xfe.bin': 'bytes\n',
      'new empty': '',
    },
  )
  const { body } = await jane.get(`${url}/changes`)
  const named = (name: string) => body.changes.filter((one: { new_path: string }) => one.new_path === name)
  for (const name of odd)
    expect(named(name)).toMatchObject([
      { old_path: name, diff: `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-one\n+two\n` },
    ])
  expect(named('run')).toMatchObject([{ a_mode: '100644', b_mode: '100755', diff: '' }])
  expect(named('kind')).toMatchObject([
    { a_mode: '100644', b_mode: '0', deleted_file: true, diff: expect.stringContaining('-text') },
    { a_mode: '0', b_mode: '120000', new_file: true, diff: expect.stringContaining('+run') },
  ])
  expect(named('module')).toMatchObject([
    { a_mode: '160000', diff: expect.stringContaining('+Subproject commit 2222') },
  ])
  expect(named('image')).toMatchObject([{ diff: 'Binary files a/image and b/image differ\n' }])
  expect(named('gone')).toMatchObject([
    { deleted_file: true, b_mode: '0', diff: expect.stringContaining('+++ /dev/null') },
  ])
  expect(named('new empty')).toMatchObject([{ new_file: true, diff: '' }])
  expect(body.changes).toHaveLength(odd.length + 8)
  expect((await jane.get(`${url}/raw_diffs`)).status).toBe(200)
})

test('100,000 files are answered in bounded time and room', async () => {
  await using forge = await startForge()
  const { jane, project, dir } = await started(forge)
  await importCommits(dir, [{ files: { README: 'x\n' } }])
  const git = (args: string[], input?: string) =>
    runGit([`--git-dir=${dir}`, ...args], input ? Buffer.from(input) : undefined)
  const listing = (count: number, entry: string, name: string) =>
    Array.from({ length: count }, (_, n) => `${entry}\t${name}${n}\n`).join('')
  const blob = await git(['hash-object', '-w', '--stdin'], 'x\n')
  // The same folder repeated takes no disk space.
  const folder = await git(['mktree'], listing(1000, `100644 blob ${blob}`, 'file'))
  const tree = await git(['mktree'], listing(100, `040000 tree ${folder}`, 'folder'))
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  const commit = await git([...who, 'commit-tree', '-p', 'master', '-m', 'Much', tree])
  await git(['update-ref', 'refs/heads/feature', commit])
  const { made, url } = await propose(jane, project)
  expect(made).toMatchObject({ changes_count: '1000+', merge_status: 'can_be_merged' })
  const { answer, stall } = await longestStall(() => jane.get(`${url}/diffs`))
  expect(answer.body).toHaveLength(20)
  expect(answer.headers.get('x-total')).toBe('1000')
  expect(stall).toBeLessThan(500)
})
