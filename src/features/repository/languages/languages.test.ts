import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { processesOf } from '../../../../test/git-builder.ts'
import { openSource } from '../../../../test/sources.ts'
import { HOUR } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'

test('a project is written in what its files are, and an unchanged tree is counted once', async () => {
  await using forge = await startForge()
  const { url, id, owner } = await openSource(forge, 'projects')
  expect(await owner.get(`${url}/languages`)).toMatchObject({ status: 200, body: {} })
  const files = {
    'a.ts': 'x'.repeat(75),
    'lib/b.py': 'y'.repeat(25),
    'README.md': 'z'.repeat(500),
    'vendor/c.c': 'v'.repeat(500),
    link: { mode: '120000', content: 'a.ts' },
  }
  await fillProject(forge, id, { message: 'first\n', files } as never)
  const get = () => owner.get(`${url}/languages`)
  expect((await get()).body).toEqual({ TypeScript: 75, Python: 25 })
  const again = await processesOf(get)
  expect(again.filter((words) => words.includes('ls-tree'))).toEqual([])
  await forge.seed({ id }, { 'c.go': 'g'.repeat(100) })
  expect((await get()).body).toEqual({ Go: 50, TypeScript: 37.5, Python: 12.5 })
})

test('projects are listed by a language, which follows the default branch', async () => {
  await using forge = await startForge()
  const { administrator: root, clock } = forge
  const [one, two] = [await forge.project({ visibility: 'public' }), await forge.project()]
  const stranger = await forge.user()
  const listed = async (language: string, who = root) => {
    const { body, headers } = await who.get('/projects', {
      with_programming_language: language,
      order_by: 'id',
      sort: 'asc',
    })
    expect(headers.get('x-total')).toBe(String(body.length))
    return body.map(({ id }: { id: number }) => id)
  }
  await forge.seed(one, { 'a.ts': 'x' })
  await forge.seed(two, { 'a.ts': 'x', 'b.py': 'y' })
  await forge.settle()
  expect(await listed('TypeScript')).toEqual([one.id, two.id])
  expect(await listed('typescript', stranger)).toEqual([one.id])
  expect(await listed('Python')).toEqual([two.id])
  expect(await listed('Typ')).toEqual([])
  expect((await listed('')).length).toBe(2)
  await forge.seed(one, { 'c.go': 'g' })
  clock.advance(10_000)
  await forge.settle()
  expect(await listed('Go')).toEqual([one.id])

  // An hourly job counts projects from before languages were stored.
  const { db } = forge.app
  await db.deleteFrom('project_languages').execute()
  await db.deleteFrom('project_language_trees').execute()
  expect(await listed('Go')).toEqual([])
  clock.advance(HOUR)
  await forge.settle()
  expect(await listed('Go')).toEqual([one.id])
  expect(await listed('Python')).toEqual([two.id])
})
