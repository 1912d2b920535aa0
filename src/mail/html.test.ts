import { expect, test } from 'vitest'
import { renderMarkdown } from '../lib/markdown/markdown.ts'
import { htmlForMail } from './html.ts'

const BASE = 'https://forge.example/a/b/issues/1'

test.each([
  ['[a](/x/y)', '<p><a href="https://forge.example/x/y">a</a></p>'],
  ['[a](c.md)', '<p><a href="https://forge.example/a/b/issues/c.md">a</a></p>'],
  ['[a](#part)', '<p><a href="https://forge.example/a/b/issues/1#user-content-part">a</a></p>'],
  ['[a](mailto:b@c.d)', '<p><a href="mailto:b@c.d" rel="nofollow noreferrer noopener">a</a></p>'],
  [
    '![p](https://eve.example/t.png?a=1&b=2)',
    '<p><a href="https://eve.example/t.png?a=1&amp;b=2" rel="noreferrer">[p]</a></p>',
  ],
  ['[![p](t.png)](/x)', '<p><a href="https://forge.example/x">[p]</a></p>'],
  [
    '<img src="https://eve.example/t.png" alt="a>b" onerror=x>',
    '<a href="https://eve.example/t.png" rel="noreferrer">[a&gt;b]</a>',
  ],
  ['- [x] a\n- [ ] b', '<li class="task-list-item">[x] a</li>\n<li class="task-list-item">[ ] b</li>'],
  ['[a](javascript:alert(1))', '<p>[a](javascript:alert(1))</p>'],
])('%s is mailed as %s', async (markdown, html) => {
  const mailed = htmlForMail(await renderMarkdown(markdown, { base: 'https://forge.example' }), BASE)
  expect(mailed).toContain(html)
  expect(mailed).not.toMatch(/<(img|input|script)/)
})
