import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { processesOf } from '../../../../test/git-builder.ts'
import { openSource } from '../../../../test/sources.ts'
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
