import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildRepository, processesOf } from '../../../test/git-builder.ts'
import {
  branchExists,
  containingRefs,
  findBranch,
  findTag,
  listBranches,
  listTags,
  mergedBranches,
  resolveRef,
  type RefsOptions,
} from './refs.ts'

const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']

test('branches are listed in pages, found and ordered as wished', async () => {
  await using repo = await buildRepository(
    { branch: 'master', files: { a: '1' }, at: 1000 },
    { branch: 'Feature/one', from: 'refs/heads/master', at: 3000 },
    { branch: 'feature/two', from: 'refs/heads/master', at: 2000 },
    { branch: 'é', from: 'refs/heads/master', at: 4000 },
  )
  const names = async (input: RefsOptions) =>
    (await listBranches(repo.dir, input)).items.map(({ name }) => name).join(' ')
  expect(await listBranches(repo.dir, { skip: 1, limit: 1 })).toEqual({
    items: [{ name: 'feature/two', id: await repo.git('rev-parse', 'feature/two') }],
    total: 4,
  })
  expect(await names({})).toBe('Feature/one feature/two master é')
  expect(await names({ order: 'name_desc' })).toBe('é master feature/two Feature/one')
  expect(await names({ order: 'updated_desc' })).toBe('é Feature/one feature/two master')
  expect(await names({ order: 'updated_asc', limit: 2 })).toBe('master feature/two')
  expect(await names({ search: 'FEAT' })).toBe('Feature/one feature/two')
  expect(await names({ search: '^mas' })).toBe('master')
  expect(await names({ search: 'o$' })).toBe('feature/two')
  expect(await names({ search: '^master$' })).toBe('master')
  expect(await names({ search: '^aster$' })).toBe('')
  expect(await names({ where: (name) => name.length > 6, search: 'one' })).toBe('Feature/one')
  expect(await names({ after: 'feature/two', limit: 1 })).toBe('master')
  expect(await names({ after: 'gone' })).toBe('master é')
  expect(await names({ after: 'gone', order: 'name_desc' })).toBe('feature/two Feature/one')
  expect(await names({ after: 'gone', order: 'updated_desc' })).toBe('')
})

test('tags come with what they say and where they lead', async () => {
  await using repo = await buildRepository({ files: { a: '1' }, at: 1000 }, { files: { a: '2' }, at: 2000 })
  const { dir } = repo
  const [head, first, tree] = (await repo.git('rev-parse', 'master', 'master~1', 'master^{tree}')).split('\n')
  await repo.git('tag', 'v1.9', first!)
  await repo.git(...identity, 'tag', '-m', 'Ten\n\né\n', 'v1.10', head!)
  await repo.git(...identity, 'tag', '-m', 'around', 'outer', 'v1.10')
  await repo.git('tag', 'folder', tree!)
  const old = await repo.write('tag', `object ${head}\ntype commit\ntag old\n\nNobody\n`)
  await repo.git('update-ref', 'refs/tags/old', old)

  const ten = await repo.git('rev-parse', 'refs/tags/v1.10')
  expect(await findTag(dir, 'v1.10')).toEqual({
    name: 'v1.10',
    target: ten,
    commit: head,
    annotation: {
      message: 'Ten\n\né',
      signature: null,
      tagger: { name: 'Ada', email: 'ada@example.com', date: expect.any(Date), offset: expect.any(Number) },
    },
  })
  expect(await findTag(dir, 'v1.9')).toEqual({ name: 'v1.9', target: first, commit: first, annotation: null })
  expect(await findTag(dir, 'outer')).toMatchObject({ commit: head, annotation: { message: 'around' } })
  expect(await findTag(dir, 'folder')).toEqual({ name: 'folder', target: tree, commit: null, annotation: null })
  expect(await findTag(dir, 'old')).toMatchObject({ annotation: { message: 'Nobody', tagger: null } })
  expect(await findTag(dir, 'master')).toBeNull()

  const versions = await listTags(dir, { order: 'version_desc', search: '^v' })
  expect(versions.items.map(({ name }) => name)).toEqual(['v1.10', 'v1.9'])
  expect(versions).toEqual({ items: [await findTag(dir, 'v1.10'), await findTag(dir, 'v1.9')], total: 2 })
  expect((await listTags(dir)).items.map(({ name }) => name)).toEqual(['folder', 'old', 'outer', 'v1.10', 'v1.9'])
})

test('however many tags there are, they are listed without a process', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  for (let n = 0; n < 12; n++) await repo.git(...identity, 'tag', '-m', `${n}`, `v${n}`, 'master')
  const cost = (limit: number) =>
    processesOf(async () => expect((await listTags(repo.dir, { limit })).items).toHaveLength(limit))
  await cost(1)
  expect(await cost(2)).toEqual([])
  expect(await cost(12)).toEqual([])
  expect(await processesOf(() => findTag(repo.dir, 'v3'))).toEqual([])
})

test('a ref is found by its exact name only', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  const { dir } = repo
  const id = await repo.git('rev-parse', 'master')
  for (const name of ['refs/heads/refs/heads/x', 'refs/tags/refs/heads/y', 'refs/heads/both', 'refs/tags/both'])
    await repo.git('update-ref', name, id)
  await repo.git('update-ref', 'refs/heads/refs/heads/master', id)
  expect(await resolveRef(dir, 'refs/heads/master')).toBe(id)
  expect(await findBranch(dir, 'master')).toEqual({ name: 'master', id })
  expect(await findBranch(dir, 'both')).toEqual({ name: 'both', id })
  for (const name of ['x', 'y', 'nowhere', 'HEAD', 'refs/heads/x', '', '-x', 'a..b', 'master~0', 'a\nb', '@{-1}'])
    expect([await findBranch(dir, name), await branchExists(dir, name)], name).toEqual([null, false])
  for (const name of ['master', 'HEAD', 'refs/heads/x', 'refs/../HEAD', 'refs/heads/*'])
    expect(await resolveRef(dir, name), name).toBeNull()
  await repo.git('pack-refs', '--all')
  expect(await findBranch(dir, 'master')).toEqual({ name: 'master', id })
})

test('tells what contains a commit, and what is merged', async () => {
  await using repo = await buildRepository(
    { files: { a: '1' } },
    { branch: 'old', from: 'refs/heads/master' },
    { files: { a: '2' } },
  )
  await repo.git('tag', 'v1', 'old')
  const { dir } = repo
  const branches = [
    { type: 'branch', name: 'master' },
    { type: 'branch', name: 'old' },
  ]
  expect(await containingRefs(dir, 'master~1')).toEqual([...branches, { type: 'tag', name: 'v1' }])
  expect(await containingRefs(dir, 'master~1', 'branch')).toEqual(branches)
  expect(await containingRefs(dir, 'old', 'tag')).toEqual([{ type: 'tag', name: 'v1' }])
  expect(await containingRefs(dir, 'nowhere')).toEqual([])
  expect(await mergedBranches(dir, 'master')).toEqual(new Set(['master']))
  expect(await mergedBranches(dir, 'v1')).toEqual(new Set(['old']))
  expect(await mergedBranches(dir, 'nowhere')).toEqual(new Set())
})

test('a name that is no UTF-8 is listed all the same', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  const id = await repo.git('rev-parse', 'master')
  await writeFile(
    join(repo.dir, 'packed-refs'),
    Buffer.from(`# pack-refs with: peeled fully-peeled sorted \n${id} refs/heads/caf\xe9\n`, 'latin1'),
  )
  const { items } = await listBranches(repo.dir)
  expect(items).toEqual([
    { name: 'caf\uFFFD', id },
    { name: 'master', id },
  ])
})

test('lists are what git lists, loose and packed, in every order', async () => {
  const dates = [3000, 1000, 3000, 2000, 1000]
  await using repo = await buildRepository(
    ...dates.map((at, n) => ({ branch: `b${n}`, files: { a: `${n}` }, at })),
    { branch: 'z/é', files: { a: 'x' }, at: 2500 },
    { branch: 'z/\uffee', files: { a: 'y' }, at: 2500 },
    { branch: 'z/\u{1f600}', files: { a: 'z' }, at: 2500 },
  )
  const { dir } = repo
  await repo.git(...identity, 'tag', '-m', 'one', 'v1', 'b0')
  await repo.git('pack-refs', '--all')
  await repo.git('update-ref', 'refs/heads/b1', 'refs/heads/b3')
  await repo.git('update-ref', '-d', 'refs/heads/b4')
  await repo.git('update-ref', 'refs/heads/new', 'refs/heads/b2')
  await repo.git('tag', 'light', 'b1')
  await repo.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/b1')
  const orders = {
    name_asc: ['--sort=refname'],
    name_desc: ['--sort=-refname'],
    updated_asc: ['--sort=refname', '--sort=creatordate'],
    updated_desc: ['--sort=refname', '--sort=-creatordate'],
  } as const
  const agrees = async () => {
    for (const [order, sorting] of Object.entries(orders) as [keyof typeof orders, readonly string[]][]) {
      const format = '--format=%(objectname) %(refname:lstrip=2)'
      const [heads, tags] = await Promise.all(
        ['refs/heads', 'refs/tags'].map((place) => repo.git('for-each-ref', ...sorting, format, place)),
      )
      const { items, total } = await listBranches(dir, { order })
      expect([items.map(({ id, name }) => `${id} ${name}`), total]).toEqual([heads!.split('\n'), items.length])
      const listed = (await listTags(dir, { order })).items.map(({ target, name }) => `${target} ${name}`)
      expect(listed.join('\n')).toBe(tags)
    }
  }
  await agrees()
  expect(await processesOf(() => listBranches(dir, { order: 'updated_desc' }))).toEqual([])

  // In unusual cases git answers.
  await repo.git('tag', 'tree', 'b0^{tree}')
  const broken = await repo.write('commit', `tree ${await repo.git('rev-parse', 'b0^{tree}')}\n\nno author\n`)
  await writeFile(join(dir, 'refs/heads/broken'), `${broken}\n`)
  await agrees()
  await writeFile(join(dir, 'refs/heads/stray'), 'no ref\n')
  await agrees()
})
