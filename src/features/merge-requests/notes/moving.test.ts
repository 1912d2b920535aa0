import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { diffLines } from '../../planning/notes/positions.ts'
import { lineAfter } from './tracing.ts'

test('where a line is after a change', () => {
  const patch = [...diffLines('@@ -2,4 +2,5 @@\n two\n-three\n+3\n+3.5\n four\n five\n@@ -20,3 +21,2 @@\n a\n-b\n c\n')]
  const expected = { 1: 1, 2: 2, 3: null, 4: 5, 5: 6, 10: 11, 20: 21, 21: null, 22: 22, 30: 30 }
  for (const [line, now] of Object.entries(expected))
    expect([line, lineAfter(patch, Number(line))]).toEqual([line, now])
  expect(lineAfter([], 7)).toBe(7)
})

const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join('')
const long = Array.from({ length: 30 }, (_, n) => `line ${n + 1}`)

async function begin(forge: Awaited<ReturnType<typeof startForge>>, input: Record<string, unknown> = {}) {
  const jane = await forge.user()
  const project = await forge.project({ name: 'tools', ...input }, jane)
  await forge.seed(project, { 'a.txt': text(...long) })
  const push = (lines: string[], more: Record<string, string> = {}) =>
    forge.seed(project, { 'a.txt': text(...lines), ...more }, { branch: 'feature' })
  const first = long.with(9, 'ten').with(19, 'twenty')
  await push(first)
  const path = `/projects/${project.id}/merge_requests`
  const { body } = await jane.post(path, { source_branch: 'feature', target_branch: 'master', title: 'Change a' })
  const url = `${path}/${body.iid}`
  const position = { ...body.diff_refs, position_type: 'text', new_path: 'a.txt', old_path: 'a.txt' }
  const discuss = async (lines: Record<string, unknown>) =>
    (await jane.post(`${url}/discussions`, { body: 'x', position: { ...position, ...lines } })).body.id as string
  const thread = async (id: string) => (await jane.get(`${url}/discussions/${id}`)).body.notes
  const head = async () => (await jane.get(url)).body.diff_refs.head_sha
  return { jane, project, push, first, url, discuss, thread, head, position }
}

test('threads go along with their lines, and are told when these are gone', async () => {
  await using forge = await startForge()
  const { push, first, discuss, thread, head, position } = await begin(forge)
  const added = await discuss({ new_line: 10 })
  const removed = await discuss({ old_line: 20 })
  const unchanged = await discuss({ old_line: 11, new_line: 11 })
  const range = await discuss({
    new_line: 20,
    line_range: { start: { new_line: 19, old_line: 19 }, end: { new_line: 20, type: 'new' } },
  })
  await push(['zero', ...first])
  const at = async (id: string) => {
    const [{ position: now, original_position }] = await thread(id)
    expect(original_position.head_sha).toBe(position.head_sha)
    return [now.head_sha === (await head()), now.old_line, now.new_line]
  }
  expect(await at(added)).toEqual([true, null, 11])
  expect(await at(removed)).toEqual([true, 20, null])
  expect(await at(unchanged)).toEqual([true, 11, 12])
  expect((await thread(range))[0].position.line_range).toMatchObject({
    start: { old_line: 19, new_line: 20 },
    end: { old_line: null, new_line: 21 },
  })

  await push(['zero', ...first.with(9, 'TEN')])
  const notes = await thread(added)
  expect(notes).toHaveLength(2)
  expect(notes[0]).toMatchObject({ resolved: false, position: { new_line: 11 } })
  expect(notes[0].position.head_sha).not.toBe(await head())
  expect(notes[1]).toMatchObject({ system: true, resolvable: false })
  expect(notes[1].body).toMatch(
    /^changed this line in \[version 3 of the diff\]\(http.*\/merge_requests\/1\/diffs\?diff_id=\d+&start_sha=\w+#\w+_11_11\)$/,
  )
  expect(await at(removed)).toEqual([true, 20, null])
  // Only once: a thread of an old version gets no second note.
  await push(['zero', ...first.with(9, 'Ten')])
  expect(await thread(added)).toHaveLength(2)
  expect(await thread(removed)).toHaveLength(1)
  await push(['zero', ...long])
  expect((await thread(removed)).at(-1).body).toMatch(/^changed this line in \[version 5 /)
})

test('a note on a version before stands where its line is now', async () => {
  await using forge = await startForge()
  const { push, first, discuss, thread, head } = await begin(forge)
  await push(['zero', ...first])
  const [note] = await thread(await discuss({ new_line: 10 }))
  expect(note.position).toMatchObject({ head_sha: await head(), new_line: 11, old_line: null })
  expect(note.original_position).toMatchObject({ new_line: 10 })
})

test('a project may have outdated threads resolved', async () => {
  await using forge = await startForge()
  const { jane, push, first, discuss, thread, url } = await begin(forge, {
    resolve_outdated_diff_discussions: true,
    only_allow_merge_if_all_discussions_are_resolved: true,
  })
  const [gone, stays] = [await discuss({ new_line: 10 }), await discuss({ new_line: 20 })]
  await push(first.with(9, 'TEN'))
  expect((await thread(gone))[0]).toMatchObject({ resolved: true })
  expect((await thread(stays))[0]).toMatchObject({ resolved: false })
  const isFree = async () => (await jane.get(url)).body.blocking_discussions_resolved
  expect(await isFree()).toBe(false)
  await push(first.with(9, 'TEN').with(19, 'TWENTY'))
  expect(await isFree()).toBe(true)
})

test('threads follow a rebase onto another base', async () => {
  await using forge = await startForge()
  const { jane, project, discuss, thread, head, url } = await begin(forge)
  const [added, removed] = [await discuss({ new_line: 10 }), await discuss({ old_line: 20 })]
  await forge.seed(project, { 'a.txt': text('new', ...long) })
  expect((await jane.put(`${url}/rebase`)).status).toBe(202)
  await expect.poll(async () => (await jane.get(url)).body.diverged_commits_count ?? 0).toBe(0)
  const [[one], [other]] = [await thread(added), await thread(removed)]
  expect(one.position).toMatchObject({ head_sha: await head(), new_line: 11 })
  expect(other.position).toMatchObject({ head_sha: await head(), old_line: 21 })
})
