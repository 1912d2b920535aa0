import { expect, test } from 'vitest'
import { URL_POSITIONS, SCHEMES, TRICKS } from '../../../test/hostile.ts'
import { renderMarkdown } from './render.ts'

const TAGS = new Set(
  `a abbr b bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i
  img input ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup table tbody td
  tfoot th thead time tr tt ul var wbr`.split(/\s+/),
)
const ATTRIBUTES = new Set(
  `abbr align alt checked class colspan datetime dir disabled height href id lang open rel reversed rowspan scope src start
  title type valign width`.split(/\s+/),
)

/** Parses the output strictly, without the code under test: a browser must see only what we allow. */
function faultsOf(html: string): string[] {
  const faults: string[] = []
  const rest = html.replace(
    /<\/?([a-z][a-z0-9]*)((?: [a-z]+(?:="[^"<>]*")?)*)>/g,
    (_, tag: string, attributes: string) => {
      if (!TAGS.has(tag)) faults.push(`<${tag}>`)
      for (const [, name = '', value = ''] of attributes.matchAll(/ ([a-z]+)(?:="([^"]*)")?/g)) {
        if (!ATTRIBUTES.has(name)) faults.push(name)
        // oxlint-disable-next-line no-control-regex -- as browsers do
        const address = value.replace(/&(?:amp|quot|lt|gt|#39);/g, '').replace(/[\u0000-\u0020]/g, '')
        if ((name === 'href' || name === 'src') && /^[^/?#]*:/.test(address) && !/^(https?|mailto|ftp):/i.test(address))
          faults.push(`${name}=${value}`)
        if (name === 'id' && !value.startsWith('user-content-')) faults.push(`id=${value}`)
      }
      return ''
    },
  )
  if (rest.includes('<')) faults.push(`rest: ${rest.slice(rest.indexOf('<'), rest.indexOf('<') + 40)}`)
  return faults
}

test.each(SCHEMES)('nothing leads to %j', (address) => {
  for (const place of URL_POSITIONS) expect(faultsOf(renderMarkdown(place(address))), place(address)).toEqual([])
})

test.each(TRICKS)('nothing runs in %j', (text) => {
  for (const around of [
    text,
    `a ${text} b`,
    `> ${text}`,
    `- ${text}\n- x`,
    `<div>\n${text}\n</div>`,
    `**${text}**`,
    `${text}${text}`,
  ])
    expect(
      faultsOf(renderMarkdown(around, { resolve: (one) => ({ href: '/x', text: one.text, title: one.text }) })),
      around,
    ).toEqual([])
})

test('the check itself finds what would run', () => {
  for (const bad of [
    '<script>',
    '<b onclick="x">',
    '<a href="javascript:x">',
    '<b',
    '<b id="x">',
    '<a href="java\nscript:x">',
  ])
    expect(faultsOf(bad), bad).not.toEqual([])
})

test('what follows a text is not part of it', () => {
  for (const text of ['<b>', '<div><ul><li>', '<table><tr><td>', '<a href="x">', '<pre><code>', '<details><summary>']) {
    const html = renderMarkdown(text)
    const open = [...html.matchAll(/<([a-z0-9]+)/g)].map(([, tag]) => tag)
    const closed = [...html.matchAll(/<\/([a-z0-9]+)/g)].map(([, tag]) => tag)
    expect(closed.toReversed(), text).toEqual(open)
  }
})
