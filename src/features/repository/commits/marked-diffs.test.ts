import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import type { App } from '../../../context.ts'
import { startForge, type Reply, type TestForge } from '../../../forge.ts'
import { markDiffs } from './marked-diffs.ts'

type Marked = readonly { readonly lines_html: string[] | null }[]

/** The answer with marks: a request that exceeds the time limit has none, and a later one finds them ready. */
async function marked(
  { visitor }: TestForge,
  path: string,
  input: Record<string, unknown>,
  of: (body: Reply['body']) => Marked = (body) => body,
): Promise<Reply> {
  const ask = () => visitor.get(path, { ...input, render_html: true })
  let answer: Reply
  await expect.poll(async () => of((answer = await ask()).body)[0]!.lines_html).not.toBeNull()
  return answer!
}

test('lines of a diff have their changed words marked on request', async () => {
  await using forge = await startForge()
  const project = await forge.project({ visibility: 'public' })
  await fillProject(
    forge,
    project.id,
    { files: { 'a.ts': 'let a = "<b>"\nlet b = 1\n', 'b.ts': 'if (a)\n  b()\n', plain: 'x\n' } },
    { files: { 'a.ts': 'let a = "<i>"\r\nlet b = 1\n', 'b.ts': 'if (a)\n    b()\n', plain: 'y\n' } },
  )
  const url = `/projects/${project.id}/repository/commits/master/diff`
  const bare = (await forge.visitor.get(url)).body
  expect(bare[0]).not.toHaveProperty('lines_html')
  const { body, headers } = await marked(forge, url, { per_page: 1, ignore_whitespace: true })
  expect(body).toHaveLength(1)
  expect(headers.get('x-total')).toBe('2')
  expect(headers.get('link')).toContain('ignore_whitespace=true')
  expect(headers.get('link')).toContain('render_html=true')
  const [, hunk, ...lines] = body[0].lines_html
  expect([body[0].lines_html[0], hunk, ...lines]).toEqual([
    '@@ -1,2 +1,2 @@',
    '<span class="hljs-keyword">let</span> a = <span class="hljs-string">&quot;&lt;b&gt;&quot;</span>',
    '<span class="hljs-keyword">let</span> a = <span class="hljs-string">&quot;&lt;i&gt;&quot;</span>',
    '<span class="hljs-keyword">let</span> b = <span class="hljs-number">1</span>',
  ])
  const compare = { from: 'master~1', to: 'master' }
  const compared = await marked(forge, `/projects/${project.id}/repository/compare`, compare, ({ diffs }) => diffs)
  const { diffs } = compared.body
  expect(diffs.map((one: { lines_html: string[] | null }) => one.lines_html?.length ?? null)).toEqual([4, 4, null])
  const blame = await marked(forge, `/projects/${project.id}/repository/files/a.ts/blame`, { ref: 'master' })
  expect(blame.body.map((one: { lines_html: string[] }) => one.lines_html.length)).toEqual([1, 1])
  expect(blame.body[0].lines_html[0]).toContain('hljs-keyword')
})

test('changes of spaces alone are left out on demand, wherever they stand', async () => {
  await using forge = await startForge()
  const project = await forge.project({ visibility: 'public' })
  const names = ['a', 'b "q"', 'c\td', 'e f', 'ü', 'z']
  const all = (text: string) => Object.fromEntries(names.map((name) => [name, text]))
  await fillProject(
    forge,
    project.id,
    { files: { ...all('x\ny\n'), old: 'some words to be known by\n'.repeat(9), mode: 'm\n' } },
    {
      files: {
        ...all('  x\ny\n'),
        'c\td': 'x\nY\n',
        ü: 'x\n  y\nz\n',
        old: null,
        young: 'some  words to be known by\n'.repeat(9),
        mode: { mode: '100755', content: 'm\n' },
      },
    },
  )
  const url = `/projects/${project.id}/repository/commits/master/diff`
  const diffs = async (ignore_whitespace: boolean) =>
    (await forge.visitor.get(url, { ignore_whitespace, unidiff: false })).body.map(
      ({ new_path, diff }: { new_path: string; diff: string }) => [new_path, diff],
    )
  expect(await diffs(false)).toHaveLength(9)
  const kept = await diffs(true)
  expect(kept.filter(([name]: [string]) => names.includes(name))).toEqual([
    ['c\td', '@@ -1,2 +1,2 @@\n x\n-y\n+Y\n'],
    ['ü', '@@ -1,2 +1,3 @@\n x\n   y\n+z\n'],
  ])
  expect(kept.map(([name]: [string]) => name)).toContain('mode')
})

test('of much, the first is marked', async () => {
  const diff = `@@ -0,0 +1,2000 @@\n${'+let abc = 1\n'.repeat(6000)}`
  const diffs = [1, 2, 3].map((n) => ({ new_path: `${n}.ts`, diff }))
  const marked = async () => (await markDiffs({} as App, diffs)).map(({ lines_html }) => lines_html?.length ?? null)
  // The first request may exceed the time limit.
  await expect.poll(marked, { timeout: 20_000 }).toEqual([6001, null, null])
})
