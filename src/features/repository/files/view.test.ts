import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { startForge } from '../../../forge.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"/>'

test('a file is told as pages show it, to visitors too', async () => {
  await using forge = await startForge()
  const project = await forge.project({ path: 'mill', visibility: 'public' })
  const code = 'let a = "<b>"\n/* over\ntwo lines */\n'
  await fillProject(forge, project.id, {
    message: 'first',
    files: {
      'docs/README.md': '# Mill\n\n[code](../a.ts) ![dot](dot.png)\n',
      'a.ts': code,
      'long.ts': code.repeat(2500),
      'fence.ts': '/* ``` */\n',
      'dot.png': PNG,
      'dot.svg': DRAWING,
      'book.pdf': '%PDF-1.4\n',
      bytes: Buffer.from([1, 0, 2]),
      'large.txt': 'x\n'.repeat(600_000),
    },
  })
  const view = async (path: string, input: Record<string, unknown> = {}) =>
    (
      await forge.visitor.get(`/projects/${project.id}/repository/files/${encodeURIComponent(path)}/view`, {
        ref: 'master',
        ...input,
      })
    ).body

  const { lines, ...about } = await view('a.ts')
  expect(about).toMatchObject({ file_name: 'a.ts', size: code.length, kind: 'text', html: null, is_cut: false })
  expect(lines).toEqual([
    '<span class="hljs-keyword">let</span> a = <span class="hljs-string">&quot;&lt;b&gt;&quot;</span>',
    '<span class="hljs-comment">/* over</span>',
    '<span class="hljs-comment">two lines */</span>',
  ])
  const long = await view('long.ts')
  expect([long.lines.length, long.is_cut]).toEqual([5000, true])
  expect((await view('fence.ts')).lines).toEqual(['<span class="hljs-comment">/* ``` */</span>'])

  const readme = await view('docs/README.md')
  expect([readme.kind, readme.lines]).toEqual(['markdown', null])
  expect(readme.html).toContain(`href="${project.web_url}/-/blob/master/a.ts"`)
  expect(readme.html).toContain(
    `src="/api/v4/projects/${project.id}/repository/files/docs%2Fdot.png/raw?ref=master" alt="dot"`,
  )
  const plain = await view('docs/README.md', { plain: true })
  expect([plain.html, plain.lines.length]).toEqual([null, 3])

  expect(await view('dot.svg')).toMatchObject({
    kind: 'drawing',
    lines: null,
    picture: `data:image/svg+xml;base64,${Buffer.from(DRAWING).toString('base64')}`,
  })
  const kinds = await Promise.all(['dot.png', 'book.pdf', 'bytes', 'large.txt'].map((path) => view(path)))
  expect(kinds.map(({ kind, lines }) => [kind, lines])).toEqual([
    ['image', null],
    ['pdf', null],
    ['binary', null],
    ['large', null],
  ])
  const raw = (path: string, pdf?: boolean) =>
    forge.visitor.get(`/projects/${project.id}/repository/files/${path}/raw`, { ref: 'master', ...(pdf && { pdf }) })
  const viewOf = async (path: string, pdf?: boolean) => {
    const { headers } = await raw(path, pdf)
    return ['content-type', 'x-content-type-options', 'content-security-policy'].map((name) => headers.get(name))
  }
  const asText = ['text/plain', 'nosniff', "default-src 'none'; sandbox"]
  expect(await viewOf('book.pdf')).toEqual(asText)
  expect(await viewOf('a.ts', true)).toEqual(asText)
  expect(await viewOf('book.pdf', true)).toEqual([
    'application/pdf',
    'nosniff',
    "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'",
  ])
  expect(await view('nowhere')).toEqual({ message: '404 File Not Found' })
})
