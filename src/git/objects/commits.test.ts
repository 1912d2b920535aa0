import { expect, test } from 'vitest'
import { startEffort } from '../../../test/effort.ts'
import { buildRepository, processesOf } from '../../../test/git-builder.ts'
import { findCommit, findCommits, parseCommit, resolveCommit, resolveCommits } from './commits.ts'
import { localTime } from '../../lib/time/local-time.ts'

const ID = '1'.repeat(40)
const TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

test('a commit becomes a record', async () => {
  await using repo = await buildRepository(
    { files: { a: '1' } },
    {
      author: 'Ada L. <ada@example.com> 1348131022 +0300',
      committer: 'Bob <bob@example.com> 1348131023 -0230',
      message: 'Fix é\n\nBecause.\n',
      files: { a: '2' },
    },
  )
  const [id, parent, tree] = (await repo.git('rev-parse', 'master', 'master~1', 'master^{tree}')).split('\n')
  const commit = await findCommit(repo.dir, 'master')
  expect(commit).toEqual({
    id,
    tree,
    parents: [parent],
    author: { name: 'Ada L.', email: 'ada@example.com', date: new Date(1348131022000), offset: 180 },
    committer: { name: 'Bob', email: 'bob@example.com', date: new Date(1348131023000), offset: -150 },
    message: 'Fix é\n\nBecause.\n',
    title: 'Fix é',
    signature: null,
  })
  expect(localTime(commit!.author)).toBe('2012-09-20T11:50:22.000+03:00')
  expect(localTime(commit!.committer)).toBe('2012-09-20T06:20:23.000-02:30')
  expect(await findCommit(repo.dir, 'master~1')).toMatchObject({ id: parent, parents: [] })
})

test('old encodings and long signatures are read', () => {
  const content = Buffer.concat([
    Buffer.from(`tree ${TREE}\nparent ${ID}\nparent ${ID}\nauthor J\xfcrgen <j@x> 1 +0000\n`, 'latin1'),
    Buffer.from('committer J\xfcrgen <j@x> 1 +0000\nencoding ISO-8859-1\n', 'latin1'),
    Buffer.from('gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n'),
    Buffer.from('Gr\xfc\xdfe\n', 'latin1'),
  ])
  expect(parseCommit(ID, content)).toMatchObject({
    parents: [ID, ID],
    author: { name: 'Jürgen' },
    message: 'Grüße\n',
    signature: '-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----',
  })
  const unknown = content.toString('latin1').replace('ISO-8859-1', 'klingon')
  expect(parseCommit(ID, Buffer.from(unknown, 'latin1')).message).toBe('Gr\uFFFD\uFFFDe\n')
})

test.each([
  ['Ada <ada@x>', 'Ada', 'ada@x', 0, 0],
  ['Ada <ada@x> x +0000', 'Ada', 'ada@x', 0, 0],
  ['Ada <ada@x> 99999999999999999999 +1200', 'Ada', 'ada@x', 253402214400, 720],
  ['Ada <ada@x> -5 +0100', 'Ada', 'ada@x', 0, 60],
  ['Ada <ada@x> 5 +051800', 'Ada', 'ada@x', 5, 0],
  ['Ada <ada@x> 5 +9900', 'Ada', 'ada@x', 5, 0],
  ['<> 5 -0000', '', '', 5, 0],
  ['Ada', 'Ada', '', 0, 0],
  ['', '', '', 0, 0],
])('%j is somebody, too', (line, name, email, seconds, offset) => {
  const { author } = parseCommit(ID, Buffer.from(`tree ${TREE}\nauthor ${line}\n\nx`))
  expect(author).toEqual({ name, email, date: new Date(seconds * 1000), offset })
  expect(localTime(author)).toMatch(/^\d{4}-\d\d-\d\dT/)
})

test('what is hardly a commit is one without content', () => {
  for (const content of ['', '\n', 'tree', 'x y\n z', `tree ${TREE}`])
    expect(parseCommit(ID, Buffer.from(content))).toMatchObject({ id: ID, parents: [], message: '', title: '' })
  expect(parseCommit(ID, Buffer.from('\n\n \n  a\0b \nc')).title).toBe('a\uFFFDb')
})

test('a commit made to keep us busy does not', () => {
  const effort = startEffort()
  const digits = parseCommit(ID, Buffer.from(`tree ${TREE}\nauthor A <a@x> ${'1'.repeat(1_000_000)}x\n\nhi`))
  expect(digits).toMatchObject({ author: { name: 'A', date: new Date(0) }, message: 'hi' })
  const headers = parseCommit(ID, Buffer.from(`tree ${TREE}\n${'a b\n c\n'.repeat(150_000)}\nhi`))
  expect(headers).toMatchObject({ tree: TREE, message: 'hi' })
  expect(effort()).toBeLessThan(2000)
})

test('many are found by one process, whatever they are called', async () => {
  await using repo = await buildRepository(...Array.from({ length: 30 }, (_, n) => ({ files: { a: `${n}` } })))
  const ids = (await repo.git('rev-list', 'master')).split('\n')
  const started = await processesOf(async () => {
    const commits = await findCommits(repo.dir, [...ids, 'master', 'nowhere', 'master:a', 'a\nb'])
    expect(commits.map((commit) => commit?.id ?? null)).toEqual([...ids, ids[0], null, null, null])
    expect(await resolveCommits(repo.dir, ['HEAD', 'master~29', 'master~30', ids[3]!.slice(0, 7)])).toEqual([
      ids[0],
      ids[29],
      null,
      ids[3],
    ])
  })
  expect(started).toHaveLength(1)
  expect(await resolveCommit(repo.dir, await repo.git('rev-parse', 'master:a'))).toBeNull()
})

test('a message without end is cut', async () => {
  await using repo = await buildRepository({ message: 'x'.repeat(3_000_000), files: { a: '1' } })
  expect((await findCommit(repo.dir, 'master'))?.message).toMatch(/^x{1000000,1048576}\n\n\[message cut\]\n$/)
})
