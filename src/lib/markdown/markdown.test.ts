import { expect, test } from 'vitest'
import { growth } from '../../../test/effort.ts'
import { referencesIn, renderMarkdown as renderSomewhere, resolutionKey } from './markdown.ts'
import { locator } from './link-bases.ts'
import { references, renderMarkdown } from './render.ts'

const BASE = 'https://forge.example'
const html = (text: string) => renderMarkdown(text, { base: BASE }).trim()

test.each([
  ['emphasis', '*a* **b** ~~c~~', '<p><em>a</em> <strong>b</strong> <s>c</s></p>'],
  [
    'a heading',
    '# A `b`!',
    '<h1 id="user-content-a-b"><a class="anchor" href="#user-content-a-b" title="Link to this heading"></a>A <code>b</code>!</h1>',
  ],
  [
    'a box',
    '- [ ] a',
    '<ul>\n<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled> a</li>\n</ul>',
  ],
  [
    'a ticked box',
    '1. [x] *a*',
    '<ol>\n<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled checked> <em>a</em></li>\n</ol>',
  ],
  ['no box', '- [ ]', '<ul>\n<li>[ ]</li>\n</ul>'],
  [
    'a table',
    '|a|b|\n|-|-:|\n|1|2|',
    '<table>\n<thead>\n<tr>\n<th>a</th>\n<th align="right">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td align="right">2</td>\n</tr>\n</tbody>\n</table>',
  ],
  ['emoji', ':tada: :none: `:tada:`', '<p><span class="emoji" title="tada">🎉</span> :none: <code>:tada:</code></p>'],
  [
    'code',
    '```js\nlet a\n```',
    '<pre><code class="language-js"><span class="hljs-keyword">let</span> a\n</code></pre>',
  ],
  ['a diagram', '```mermaid\nA-->B\n```', '<pre><code class="language-mermaid">A--&gt;B\n</code></pre>'],
  [
    'an outside link',
    'http://a.example',
    '<p><a href="http://a.example" rel="nofollow noreferrer noopener">http://a.example</a></p>',
  ],
  ['a link to ourselves', `[a](${BASE}/b)`, `<p><a href="${BASE}/b">a</a></p>`],
  ['a fragment', '[a](#b)', '<p><a href="#user-content-b">a</a></p>'],
  ['HTML', '<kbd>a</kbd> <b title="c">d', '<p><kbd>a</kbd> <b title="c">d</b></p>'],
  ['HTML that is closed twice', '<b>a</b></b></div>', '<p><b>a</b></p>'],
  ['an id', '<a id="x">a</a>', '<p><a id="user-content-x">a</a></p>'],
  [
    'an alert',
    '> [!NOTE]\n> a *b*\n>\n> c',
    '<div class="alert alert-note">\n<p class="alert-title">Note</p>\n<p>a <em>b</em></p>\n<p>c</p>\n</div>',
  ],
  [
    'an alert with a title, in a quote',
    '> > [!warning] Read *this*',
    '<blockquote>\n<div class="alert alert-warning">\n<p class="alert-title">Read <em>this</em></p>\n</div>\n</blockquote>',
  ],
  ['a quote that names no alert', '> [!SPAM]', '<blockquote>\n<p>[!SPAM]</p>\n</blockquote>'],
  ['nothing', '', ''],
])('%s is rendered', (_, text, expected) => expect(html(text)).toBe(expected))

test('equal headings have anchors of their own', () => {
  const ids = [...html('# a\n# a !\n# a-1\n# a\n# !').matchAll(/id="user-content-([^"]*)"/g)].map(([, id]) => id)
  expect(ids).toEqual(['a', 'a-1', 'a-1-1', 'a-2', 'section'])
})

test('a table of contents links to all headings, once in a text', () => {
  const link = (slug: string, words: string) => `<li><a href="#user-content-${slug}">${words}</a>`
  const contents = `<ul>${link('a--b', 'A &lt; b')}<ul>${link('c', 'C')}</li></ul></li>${link('a', 'a')}</li></ul>`
  for (const mark of ['[[_TOC_]]', '[TOC]']) {
    const [before, after] = html(`${mark}\n\n# A < b\n### *C*\n# a\n\n[TOC]`).split('</section>')
    expect(before).toBe(`<section class="contents">${contents}`)
    expect(after).toMatch(/<p>\[TOC\]<\/p>$/)
  }
  expect(html('see [TOC]\n\n# a')).toContain('see [TOC]')
  expect(html('[TOC]')).toBe('')
})

test('references in alerts are found on their lines', () => {
  const found = references('> [!NOTE]\n> see #1\n\n> [!TIP] for @jan\n> and #2')
  expect(found.map(({ text, line }) => [text, line])).toEqual([
    ['#1', 1],
    ['@jan', 3],
    ['#2', 4],
  ])
})

test('footnotes stand at the end, in the order of their use', () => {
  const text = 'a[^two] b[^one] c[^two] [^none]\n\n[^one]: One.\n[^two]: Two.\n\n    More.\n[^unused]: Three.'
  const rendered = html(text)
  expect(rendered).toContain(
    'a<sup class="footnote-ref"><a href="#user-content-fn-1" id="user-content-fnref-1">1</a></sup>',
  )
  expect(rendered).toContain(
    'c<sup class="footnote-ref"><a href="#user-content-fn-1" id="user-content-fnref-1-2">1</a></sup> [^none]',
  )
  expect(rendered).toMatch(/<li id="user-content-fn-1">\n<p>Two.<\/p>\n<p>More. <a [^>]*>↩<\/a><\/p>\n<\/li>/)
  expect(rendered).toMatch(/<li id="user-content-fn-2">\n<p>One. <a [^>]*>↩<\/a><\/p>\n<\/li>\n<\/ol>\n<\/section>$/)
  expect(rendered).not.toContain('Three')
})

test('a text tells what it names, where, and whom it speaks to', () => {
  const text = `@jan, @piet and @eva: see #1
and g/p!2 \`#3\` [#4](x) \\#5 ![#6](y)

hello @kees, ${BASE}/g/p/-/issues/7#note_8

- @list
> @quote

    #9

|#10|
|-|
|#11|

<b>#12</b> **#13** <https://forge.example/g/p/commit/abcdef1>
`
  expect(
    references(text, { base: BASE }).map(({ text, line, addressed, note }) => [text, line, addressed, note]),
  ).toEqual([
    ['@jan', 0, true, null],
    ['@piet', 0, true, null],
    ['@eva', 0, true, null],
    ['#1', 0, false, null],
    ['g/p!2', 1, false, null],
    ['@kees', 3, false, null],
    [`${BASE}/g/p/-/issues/7#note_8`, 3, false, 8],
    ['@list', 5, false, null],
    ['@quote', 6, false, null],
    ['#10', 10, false, null],
    ['#11', 12, false, null],
    ['#12', 14, false, null],
    ['#13', 14, false, null],
    [`${BASE}/g/p/commit/abcdef1`, 14, false, null],
  ])
})

test('so many references are told, and no more', () => {
  expect(references('#1 '.repeat(3000))).toHaveLength(2000)
})

test('what is resolved becomes a link, all else stays as it is written', () => {
  const text = `#1 #2 [#1](x) ${BASE}/g/p/issues/3 ${BASE}/g/p/issues/4`
  const rendered = renderMarkdown(text, {
    base: BASE,
    resolve: ({ text: written, kind }) =>
      /1|3/.test(written) ? { href: '/there?a&b', title: 'T "<b>', text: `<${kind}>`, class: 'issue' } : null,
  })
  const link = '<a href="/there?a&amp;b" title="T &quot;&lt;b&gt;" class="issue">&lt;issue&gt;</a>'
  expect(rendered.trim()).toBe(
    `<p>${link} #2 <a href="x">#1</a> ${link} <a href="${BASE}/g/p/issues/4">${BASE}/g/p/issues/4</a></p>`,
  )
})

test('what a resolution leads to is checked too', () =>
  expect(renderMarkdown('#1', { resolve: () => ({ href: 'javascript:alert(1)', text: 'x' }) }).trim()).toBe(
    '<p>#1</p>',
  ))

test.each([
  ['/uploads/0123456789abcdef0123456789abcdef/a.png', 'picture', '/g/p/uploads/0123456789abcdef0123456789abcdef/a.png'],
  ['b.md', 'link', '/g/p/blob/main/docs/b.md'],
  ['../b.md?x#y', 'link', '/g/p/blob/main/b.md?x#y'],
  ['../../../../b.md', 'link', '/g/p/blob/main/b.md'],
  ['/b.md', 'link', '/g/p/blob/main/b.md'],
  ['./b.png', 'picture', '/g/p/raw/main/docs/b.png'],
] as const)('%s as a %s leads to %s', (address, kind, expected) => {
  const locate = locator({
    project: '/g/p',
    links: { root: '/g/p/blob/main', folder: 'docs' },
    pictures: { root: '/g/p/raw/main', folder: 'docs' },
  })
  expect(locate(address, kind)).toBe(expected)
})

test('a long text is read in a thread, with the same result', async () => {
  const text = '#1 and *@jan* :tada:\n\n'.repeat(1000)
  const found = await referencesIn(text, BASE)
  expect(found).toEqual(references(text, { base: BASE }))
  const one = { href: '/1', text: 'one' }
  const rendered = await renderSomewhere(text, { base: BASE, resolutions: { [resolutionKey(found[0]!)]: one } })
  expect(rendered).toBe(renderMarkdown(text, { resolve: ({ kind }) => (kind === 'issue' ? one : null) }))
})

const HOSTILE = [
  '>',
  '> > ',
  '- ',
  '1. ',
  '> - ',
  '> [!NOTE]\n',
  '> [!tip] a\n\n',
  '[TOC]\n\n',
  '  - a\n',
  '[',
  '![',
  '[a](',
  '[a][',
  '[]',
  '*a **b ',
  '*',
  '_a __b ',
  '*_',
  '~~a ',
  '`',
  '` `` ',
  '<',
  '<a',
  '<a ',
  '<a b="',
  '<b>',
  '</i>',
  '<div>\n',
  '<!--',
  '<?',
  '<![CDATA[',
  '&',
  '&a',
  '|a',
  '|x|y|\n',
  'a|b\n-|-\n',
  '[a]: b\n',
  '[a]:\n',
  '[^a]',
  '[^',
  '[^a]: x\n',
  'http://',
  'http://a.b ',
  'a@',
  'a@b.co ',
  '\\',
  '# a\n',
  'a\n===\n',
  '```\n',
  '~~~ a\n',
  '- [ ] a\n',
  '#1 @a ',
  'a/',
  '~"',
  ':a',
  ':tada:',
  '*[a](b)',
  '\n',
  ' \t',
  '\0',
  '"',
]

test.each(HOSTILE)(
  '%j again and again is rendered in time that grows with its length',
  (piece) => {
    const prefix = '[TOC]\n\n[^a]: b\n\n|a|\n|-|\n<div><b>'
    expect(growth((text) => renderMarkdown(`${prefix}\n\n${text}`, { base: BASE }), piece, 25_000)).toBeLessThan(3.2)
    expect(growth((text) => renderMarkdown(`<div>\n${text}`, { base: BASE }), piece, 25_000)).toBeLessThan(3.2)
  },
  60_000,
)
