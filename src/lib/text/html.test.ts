import { expect, test } from 'vitest'
import { html } from './html.ts'

test('values are escaped, in text and in quoted attributes', () => {
  const title = `<script>alert("it's & 1")</script>`
  const escaped = '&lt;script&gt;alert(&quot;it&#39;s &amp; 1&quot;)&lt;/script&gt;'
  expect(String(html`<p title="${title}">${title}</p>`)).toBe(`<p title="${escaped}">${escaped}</p>`)
})

test('markup made here is kept, lists are joined and absent values leave nothing', () => {
  const items = ['a', '<b>'].map((item) => html`<i>${item}</i>`)
  expect(String(html`${items}${null}${undefined}${false}${0}`)).toBe('<i>a</i><i>&lt;b&gt;</i>0')
})

test('an object that only looks like markup is refused', () => {
  const forged = { toString: () => '<i>' } as unknown as string
  expect(() => html`${forged}`).toThrow(TypeError)
})
