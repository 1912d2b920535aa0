import { expect, test } from 'vitest'
import { processesOf } from '../../../../test/git-builder.ts'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge } from '../../../forge.ts'

const FOLDERS = 30
const FILES = 700

test('the listing of a large repository is read from git once', async () => {
  await using forge = await startForge()
  const { id } = await forge.project({ visibility: 'public' })
  const files: Record<string, string> = { 'é last': 'same' }
  for (let n = 0; n < FOLDERS * FILES; n++)
    files[`folder ${n % FOLDERS}/${n}.txt`] = n % 1000 === 0 ? 'same' : `${n % 100}`
  const dir = await fillProject(forge, id, { files })
  const listing = (await runGit([`--git-dir=${dir}`, 'ls-tree', '-r', '-t', '-z', 'master']))
    .split('\0')
    .filter(Boolean)
  const lines = ['tree', 'blob'].flatMap((type) => listing.filter((line) => line.split(' ')[1] === type))
  const expected = lines.map((line) => /^(\d+) (\w+) (\w+)\t(.*)$/.exec(line)!.slice(1))
  expect(expected).toHaveLength(FOLDERS + FOLDERS * FILES + 1)

  const ask = (query: string) => forge.visitor.get(`/projects/${id}/repository/tree?recursive=true&${query}`)
  const told = (body: Record<string, string>[]) => body.map(({ mode, type, id, path }) => [mode, type, id, path])
  const pages = [1, 2, 70, 211, 212]
  const started = await processesOf(async () => {
    for (const page of pages) {
      const { body, headers } = await ask(`per_page=100&page=${page}`)
      expect(told(body)).toEqual(expected.slice((page - 1) * 100, page * 100))
      expect(headers.get('x-total')).toBe(String(expected.length))
    }
    let next = ''
    for (let at = 0; at <= 300; at += 100) {
      const { body, headers } = await ask(`pagination=keyset&per_page=100${next}`)
      expect(told(body)).toEqual(expected.slice(at, at + 100))
      next = /&page_token=[^&>]+/.exec(headers.get('link')!)![0]
    }
    const last = expected.at(-1)![2]
    const same = expected.filter(([, , id]) => id === last).length
    const end = await ask(`pagination=keyset&page_token=${last}-${same - 1}`)
    expect([end.status, end.body]).toEqual([200, []])
    expect((await ask(`pagination=keyset&page_token=${last}-${same}`)).status).toBe(400)
  })
  expect(started.filter(([, verb]) => verb === 'ls-tree')).toHaveLength(1)
})
