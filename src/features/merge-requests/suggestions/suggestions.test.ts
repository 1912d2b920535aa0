import { expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

async function begin(
  forge: TestForge,
  input: Record<string, unknown> = {},
  content = 'one\n2\nthree\nfour\n',
  before = 'one\ntwo\n',
) {
  const [jane, joe] = [await forge.user({ name: 'Jane' }), await forge.user({ name: 'Joe' })]
  const project = await forge.project({ path: 'tools', visibility: 'public', ...input }, jane)
  await forge.seed(project, { 'a.txt': before })
  await forge.seed(project, { 'a.txt': content, 'b.txt': 'b\n' }, { branch: 'feature' })
  const path = `/projects/${project.id}/merge_requests`
  const { body } = await jane.post(path, { source_branch: 'feature', target_branch: 'master', title: 'Change a' })
  const url = `${path}/1`
  const suggest = async (text: string, line: number, file = 'a.txt', by: Person = joe) => {
    const position = { ...body.diff_refs, position_type: 'text', new_path: file, old_path: file, new_line: line }
    const made = await by.post(`${url}/discussions`, { body: text, position })
    return made.body.notes[0]
  }
  const fileNow = async (file = 'a.txt') =>
    (await jane.get(`/projects/${project.id}/repository/files/${file}/raw`, { ref: 'feature' })).body
  const tip = async () => (await jane.get(`/projects/${project.id}/repository/branches/feature`)).body.commit
  return { jane, joe, project, url, suggest, fileNow, tip }
}

test('a suggestion is stored with its note and applied as the user who applies it', async () => {
  await using forge = await startForge()
  const { jane, joe, url, suggest, fileNow, tip } = await begin(forge)
  const note = await suggest('Better:\n```suggestion:-1+1\nONE\nTWO\n```', 2)
  expect(note.suggestions).toEqual([
    {
      id: expect.any(Number),
      from_line: 1,
      to_line: 3,
      appliable: true,
      applied: false,
      from_content: 'one\n2\nthree\n',
      to_content: 'ONE\nTWO\n',
    },
  ])
  const [{ id }] = note.suggestions
  expect((await joe.put(`/suggestions/${id}/apply`)).status).toBe(403)
  expect(await fileNow()).toBe('one\n2\nthree\nfour\n')
  const done = await jane.put(`/suggestions/${id}/apply`)
  expect(done).toMatchObject({ status: 200, body: { id, applied: true, appliable: false } })
  expect(await fileNow()).toBe('ONE\nTWO\nfour\n')
  expect(await tip()).toMatchObject({
    message: 'Apply 1 suggestion(s) to 1 file(s)',
    author_name: 'Jane',
    committer_name: 'Jane',
  })
  expect((await jane.get(url)).body.sha).toBe((await tip()).id)
  const [{ notes }] = (await jane.get(`${url}/discussions`)).body
  expect(notes[0]).toMatchObject({ resolved: true, suggestions: [{ applied: true }] })

  const before = await tip()
  expect(await jane.put(`/suggestions/${id}/apply`)).toMatchObject({
    status: 400,
    body: { message: "Can't apply this suggestion." },
  })
  expect(await tip()).toEqual(before)
})

test('many are one commit, with the words of the project', async () => {
  await using forge = await startForge()
  const template =
    '%{username}: %{suggestions_count} in %{file_paths} of %{project_path}@%{branch_name} %{what}\n\n%{co_authored_by}'
  const { jane, joe, suggest, fileNow, tip } = await begin(forge, { suggestion_commit_message: template })
  const before = await tip()
  const notes = [
    await suggest('```suggestion\nTWO\n```', 2),
    await suggest('```suggestion:-0+0\n```', 4),
    await suggest('```suggestion\nB\nC\n```', 1, 'b.txt', jane),
  ]
  const ids = notes.map(({ suggestions }) => suggestions[0].id)
  const done = await jane.put('/suggestions/batch_apply', { ids })
  expect(done).toMatchObject({ status: 200, body: [{ applied: true }, { applied: true }, { applied: true }] })
  expect([await fileNow(), await fileNow('b.txt')]).toEqual(['one\nTWO\nthree\n', 'B\nC\n'])
  const after = await tip()
  expect(after.parent_ids).toEqual([before.id])
  expect(after.message).toBe(
    `${jane.username}: 3 in a.txt b.txt of ${jane.username}/tools@feature %{what}\n\nCo-authored-by: Joe <${joe.username}@noreply.invalid>`,
  )
})

test('bytes that are not replaced stay as they are', async () => {
  await using forge = await startForge()
  const { jane, suggest, fileNow } = await begin(forge, {}, 'one\r\n2\r\nlast')
  const [{ id }] = (await suggest('```suggestion\nTWO\nMORE\n```', 2)).suggestions
  await jane.put(`/suggestions/${id}/apply`, { commit_message: 'Mine' })
  expect(await fileNow()).toBe('one\r\nTWO\r\nMORE\r\nlast')
})

test('what cannot be applied is refused, and nothing moves', async () => {
  await using forge = await startForge()
  const { jane, project, url, suggest, fileNow, tip } = await begin(forge)
  const idOf = async (text: string, line: number) => (await suggest(text, line)).suggestions[0].id as number
  const same = await idOf('```suggestion\n2\n```', 2)
  const wide = await idOf('```suggestion:-1+1\nx\n```', 2)
  const narrow = await idOf('```suggestion\ny\n```', 3)
  const before = await tip()
  const refusals: [string, unknown, number, string][] = [
    [`${same}/apply`, {}, 400, 'This suggestion already matches its content.'],
    ['batch_apply', { ids: [wide, narrow] }, 400, 'Suggestions are not applicable as their lines cannot overlap.'],
    ['batch_apply', { ids: [wide, 999] }, 404, '404 Suggestion Not Found'],
    ['batch_apply', { ids: [] }, 404, '404 Suggestion Not Found'],
    ['999/apply', {}, 404, '404 Suggestion Not Found'],
  ]
  for (const [path, input, status, message] of refusals)
    expect([path, await jane.put(`/suggestions/${path}`, input as never)]).toMatchObject([
      path,
      { status, body: { message } },
    ])
  expect(await tip()).toEqual(before)

  await forge.seed(project, { 'a.txt': 'one\n2\nTHREE\nfour\n' }, { branch: 'feature' })
  for (const [id, words] of [
    [narrow, "Can't apply as this line was changed in a more recent version."],
    [wide, "Can't apply as these lines were changed in a more recent version."],
  ])
    expect(await jane.put(`/suggestions/${id}/apply`)).toMatchObject({ status: 400, body: { message: words } })
  expect(await fileNow()).toBe('one\n2\nTHREE\nfour\n')
  await jane.put(url, { state_event: 'close' })
  expect((await jane.put(`/suggestions/${wide}/apply`)).body.message).toBe(
    'This merge request is closed. To apply this suggestion, edit this file directly.',
  )
})

test('two who apply the same at once make one commit', async () => {
  await using forge = await startForge()
  const { jane, suggest, fileNow } = await begin(forge)
  const [{ id }] = (await suggest('```suggestion\nTWO\n```', 2)).suggestions
  const both = await Promise.all([1, 2].map(() => jane.put(`/suggestions/${id}/apply`)))
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400])
  expect(await fileNow()).toBe('one\nTWO\nthree\nfour\n')
})

test('an edited note proposes what it says now; a removed line gets no other text', async () => {
  await using forge = await startForge()
  const { joe, jane, url, suggest } = await begin(forge)
  const note = await suggest('```suggestion\nx\n```', 2)
  const edited = await joe.put(`${url}/notes/${note.id}`, { body: '```suggestion\ny\n```\n```suggestion\nz\n```' })
  expect(edited.body.suggestions.map(({ to_content }: { to_content: string }) => to_content)).toEqual(['y\n', 'z\n'])
  expect((await joe.put(`${url}/notes/${note.id}`, { body: 'Never mind' })).body.suggestions).toEqual([])
  const { diff_refs } = (await jane.get(url)).body
  const position = { ...diff_refs, position_type: 'text', new_path: 'a.txt', old_path: 'a.txt', old_line: 2 }
  const old = await jane.post(`${url}/discussions`, { body: '```suggestion\nx\n```', position })
  expect(old.body.notes[0].suggestions).toEqual([])
})

test('what the suggestions of a note quote is bounded in all', async () => {
  await using forge = await startForge()
  const half = `${'y'.repeat(1000)}\n`.repeat(100)
  const content = `${half}changed\n${half}`
  const { jane, joe, url, suggest } = await begin(forge, {}, content, half + half)
  const body = '```suggestion:-100+100\nz\n```\n'.repeat(50)
  const note = await suggest(body, 101)
  expect(note.suggestions).toMatchObject([{ from_line: 1, to_line: 201, from_content: content }])
  const edited = await joe.put(`${url}/notes/${note.id}`, { body: `${body}more` })
  expect(edited.body.suggestions).toHaveLength(1)
  const [{ notes }] = (await jane.get(`${url}/discussions`)).body
  expect(notes[0].suggestions).toHaveLength(1)
})
