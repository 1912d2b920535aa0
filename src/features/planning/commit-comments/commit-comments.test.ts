import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { up } from '../../../store/migrations/before-baseline/2026-11-16-1110-commit-notes.ts'

async function commented(forge: TestForge) {
  const project = await forge.project({ visibility: 'public' })
  const dir = await fillProject(
    forge,
    project.id,
    { files: { 'a.txt': 'one\ntwo\nthree\n' } },
    { files: { 'a.txt': 'zero\none\nthree\nfour\n' } },
  )
  const sha = await runGit([`--git-dir=${dir}`, 'rev-parse', 'master'])
  return { project, sha, url: `/projects/${project.id}/repository/commits/${sha}/comments` }
}

test('comments are told oldest first, of this commit only', async () => {
  await using forge = await startForge()
  const { project, url } = await commented(forge)
  const jane = await forge.user({ username: 'jane' })

  const first = await jane.post(url, { note: 'Nice' })
  expect(first.status).toBe(201)
  expect(first.body).toEqual({
    note: 'Nice',
    path: null,
    line: null,
    line_type: null,
    author: expect.objectContaining({ id: jane.id, username: 'jane' }),
    created_at: expect.stringMatching(/Z$/),
  })
  // The comments of a commit appear under any of its names.
  const second = await jane.post(`/projects/${project.id}/repository/commits/master/comments`, { note: 'More' })
  await jane.post(`/projects/${project.id}/repository/commits/master~1/comments`, { note: 'Elsewhere' })
  const list = await forge.visitor.get(url)
  expect(list.body).toEqual([first.body, second.body])
  expect(list.headers.get('x-total')).toBe('2')
  expect((await forge.events()).filter((name) => name === 'note.created')).toHaveLength(3)
})

test.each([
  ['an added line', { path: 'a.txt', line: 1, line_type: 'new' }, true],
  ['an added line, unnamed', { path: 'a.txt', line: 4 }, true],
  ['a removed line by its old number', { path: 'a.txt', line: 2, line_type: 'old' }, true],
  ['a line that stayed', { path: 'a.txt', line: 2, line_type: 'new' }, false],
  ['a line that stayed, on the old side', { path: 'a.txt', line: 1, line_type: 'old' }, false],
  ['a line beyond the end', { path: 'a.txt', line: 99, line_type: 'new' }, false],
  ['another file', { path: 'b.txt', line: 1, line_type: 'new' }, false],
] as const)('a comment on %s', async (_what, place, isKept) => {
  await using forge = await startForge()
  const { url } = await commented(forge)
  const { status, body } = await forge.administrator.post(url, { note: 'x', ...place })
  expect(status).toBe(201)
  const kept = { line_type: 'new', ...place }
  expect(body).toMatchObject(isKept ? kept : { path: null, line: null, line_type: null })
})

test.each([
  ['stranger', {}, 400, '400 (Bad request) note not given'],
  ['stranger', { note: ' ' }, 400, 'note is empty'],
  ['stranger', { note: 'x'.repeat(65_537) }, 400, { note: ['is too long (maximum is 65536 characters)'] }],
  ['stranger', { note: 'x', path: 'a.txt' }, 400, '400 (Bad request) line not given'],
  ['stranger', { note: 'x', path: 'a.txt', line: 1, line_type: 'both' }, 400, 'line_type does not have a valid value'],
  ['anonymous', { note: 'x' }, 401, '401 Unauthorized'],
] as const)('%s with %o is refused', async (who, input, status, message) => {
  await using forge = await startForge()
  const { url } = await commented(forge)
  const caller = who === 'anonymous' ? forge.visitor : await forge.user()
  const before = await forge.events()
  expect(await caller.post(url, input)).toMatchObject({ status, body: { message } })
  expect((await forge.visitor.get(url)).body).toEqual([])
  expect(await forge.events()).toEqual(before)
})

test('nobody comments in an archived project, and what one said outlives them', async () => {
  await using forge = await startForge()
  const { project, url } = await commented(forge)
  const [jane, joe] = [await forge.user(), await forge.user()]
  await jane.post(url, { note: 'by Jane' })
  await joe.post(url, { note: 'by Joe' })
  await forge.administrator.post(`/projects/${project.id}/archive`)
  expect((await jane.post(url, { note: 'late' })).status).toBe(403)

  await forge.administrator.delete(`/users/${jane.id}`)
  await forge.administrator.delete(`/users/${joe.id}`, { hard_delete: true })
  await forge.settle()
  expect((await forge.visitor.get(url)).body).toMatchObject([{ note: 'by Jane', author: { username: 'ghost' } }])
})

test('nobody deletes a note on a commit of an archived project', async () => {
  await using forge = await startForge()
  const { project, sha } = await commented(forge)
  const jane = await forge.user()
  const discussions = `/projects/${project.id}/repository/commits/${sha}/discussions`
  const { body: started } = await jane.post(discussions, { body: 'Nice' })
  const note = `${discussions}/${started.id}/notes/${started.notes[0].id}`
  await forge.administrator.post(`/projects/${project.id}/archive`)
  const before = (await jane.get(discussions)).body
  expect(before).toHaveLength(1)

  for (const caller of [jane, forge.administrator]) expect((await caller.delete(note)).status).toBe(403)
  expect((await jane.get(discussions)).body).toEqual(before)

  await forge.administrator.post(`/projects/${project.id}/unarchive`)
  expect((await jane.delete(note)).status).toBe(204)
  expect((await jane.get(discussions)).body).toEqual([])
})

test('a longer list asks the store no more', async () => {
  await using forge = await startForge()
  const { url } = await commented(forge)
  const say = async (count: number) => {
    for (let n = 0; n < count; n++) await (await forge.user()).post(url, { note: `${n}` })
  }
  await say(2)
  const count = async () => {
    await forge.visitor.get(url)
    return forge.queries(() => forge.visitor.get(url))
  }
  const few = await count()
  await say(10)
  expect(await count()).toBe(few)
})

test('comments of older stores became notes', async () => {
  await using forge = await startForge()
  const { project, sha, url } = await commented(forge)
  // oxlint-disable-next-line no-explicit-any -- a table that no longer exists
  const db = forge.app.db as any
  let table = db.schema.createTable('commit_comments').addColumn('id', 'integer').addColumn('project_id', 'integer')
  for (const name of ['sha', 'note', 'path', 'line_type', 'created_at']) table = table.addColumn(name, 'text')
  await table.addColumn('line', 'integer').addColumn('author_id', 'integer').execute()
  const comment = {
    project_id: project.id,
    sha,
    author_id: forge.administrator.id,
    created_at: '2020-01-02T03:04:05.000Z',
  }
  const anchors = [
    { path: null, line: null, line_type: null },
    { path: 'a.txt', line: 1, line_type: 'new' },
    { path: 'a.txt', line: 2, line_type: 'old' },
  ]
  const rows = anchors.map((anchor, n) => ({ id: n + 1, note: `Comment ${n}`, ...comment, ...anchor }))
  await db.insertInto('commit_comments').values(rows).execute()
  await up(db)
  const { author_id: _, sha: __, project_id: ___, ...kept } = comment
  expect((await forge.visitor.get(url)).body).toMatchObject(
    anchors.map((anchor, n) => ({ note: `Comment ${n}`, ...kept, ...anchor })),
  )
  const discussions = (await forge.visitor.get(url.replace(/comments$/, 'discussions'))).body
  expect(discussions.map((one: { individual_note: boolean }) => one.individual_note)).toEqual([true, false, false])
})
