import { expect, test } from 'vitest'
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

/** What a browser would make of it must be what we know: read strictly, without the code under test. */
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

const RUN = 'alert(1)'
const SCHEMES = [
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  `java\nscript:${RUN}`,
  ` javascript:${RUN}`,
  `\u0001javascript:${RUN}`,
  `javascript&colon;${RUN}`,
  `javascript&#58;${RUN}`,
  `javascript&#x3a;${RUN}`,
  `javascript&#0000058${RUN}`,
  `&#106;&#97;&#118;&#97;script:${RUN}`,
  `java&Tab;script:${RUN}`,
  `java&NewLine;script:${RUN}`,
  `vbscript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `data:text/html;base64,PHNjcmlwdD4=`,
  `data:image/svg+xml,<svg onload=${RUN}>`,
  `feed:javascript:${RUN}`,
  `view-source:javascript:${RUN}`,
  `blob:https://a/b`,
  `file:///etc/passwd`,
  `\u200bjavascript:${RUN}`,
  `javascript\u00ad:${RUN}`,
  `jar:x`,
]

const PLACES = [
  (a: string) => `[x](${a})`,
  (a: string) => `[x](<${a}>)`,
  (a: string) => `![x](${a})`,
  (a: string) => `![x](<${a}>)`,
  (a: string) => `[x]\n\n[x]: ${a}`,
  (a: string) => `[x]\n\n[x]: <${a}>`,
  (a: string) => `<${a}>`,
  (a: string) => a,
  (a: string) => `<a href="${a}">x</a>`,
  (a: string) => `<a href='${a}'>x</a>`,
  (a: string) => `<a href=${a}>x</a>`,
  (a: string) => `<img src="${a}">`,
  (a: string) => `<div><a href="${a}">x</a>`,
  (a: string) => `<div><iframe src="${a}"></iframe></div>`,
  (a: string) => `<blockquote cite="${a}">x</blockquote>`,
  (a: string) => `<form action="${a}"><button formaction="${a}">x</button></form>`,
  (a: string) => `<table background="${a}"><td background="${a}">`,
  (a: string) => `<object data="${a}"></object><embed src="${a}">`,
  (a: string) => `<svg><a xlink:href="${a}"><text>x</text></a></svg>`,
  (a: string) => `<math href="${a}">x</math>`,
  (a: string) => `<meta http-equiv=refresh content="0;url=${a}">`,
  (a: string) => `<base href="${a}">`,
  (a: string) => `<link rel=stylesheet href="${a}">`,
  (a: string) => `<video poster="${a}"><source src="${a}"></video>`,
]

test.each(SCHEMES)('nothing leads to %j', (address) => {
  for (const place of PLACES) expect(faultsOf(renderMarkdown(place(address))), place(address)).toEqual([])
})

const TRICKS = [
  `<script>${RUN}</script>`,
  `<SCRIPT SRC=//x.example/a.js></SCRIPT>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `<script/x>${RUN}</script>`,
  `<<script>${RUN}//<</script>`,
  `<script\n>${RUN}</script\n>`,
  `<script>`,
  `</script><script>${RUN}`,
  `<img src=x onerror=${RUN}>`,
  `<img src=x onerror="${RUN}">`,
  `<img src="x" / onerror=${RUN}>`,
  `<img/src=x/onerror=${RUN}>`,
  `<img src=x\nonerror\n=\n${RUN}>`,
  `<img """><script>${RUN}</script>">`,
  `<img src=\`x\` onerror=${RUN}>`,
  `<img alt="><script>${RUN}</script>" src=x>`,
  `<img title='" onerror=${RUN} x="'>`,
  `<b title="&quot; onclick=${RUN} x=&quot;">x</b>`,
  `<b title="&#34; onclick=${RUN} x=&#34;">x</b>`,
  `<b =onclick=${RUN}>x</b>`,
  `<b "onclick=${RUN}>x</b>`,
  `<b on\u0000click=${RUN}>x</b>`,
  `<b\u0000onclick=${RUN}>x</b>`,
  `<b/onclick=${RUN}>x</b>`,
  `<body onload=${RUN}>`,
  `<svg onload=${RUN}>`,
  `<svg/onload=${RUN}//`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><style><img src=x onerror=${RUN}></style></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror=${RUN}>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<style>@import 'x'</style>`,
  `<p style="background:url(javascript:${RUN})">x`,
  `<div style=position:fixed;inset:0>x</div>`,
  `<iframe srcdoc="<script>${RUN}</script>"></iframe>`,
  `<details open ontoggle=${RUN}>x</details>`,
  `<input autofocus onfocus=${RUN}>`,
  `<select autofocus onfocus=${RUN}>`,
  `<textarea></textarea><img src=x onerror=${RUN}>`,
  `<template><img src=x onerror=${RUN}></template>`,
  `<title><img src=x onerror=${RUN}></title>`,
  `<xmp><img src=x onerror=${RUN}></xmp>`,
  `<plaintext><img src=x onerror=${RUN}>`,
  `<!--><img src=x onerror=${RUN}>-->`,
  `<!-- --!><img src=x onerror=${RUN}> -->`,
  `<![CDATA[<img src=x onerror=${RUN}>]]>`,
  `<?php <img src=x onerror=${RUN}> ?>`,
  `<!DOCTYPE x [<!ENTITY y "<img src=x onerror=${RUN}>">]>`,
  `<a href="x" target=_top ping=//x.example>x</a>`,
  `<a id=csrf-token name=body class="js-delete" data-method=delete href=/x>x</a>`,
  `<form><input name=action></form>`,
  `<img name=getElementById>`,
  `<a href="x" onclick=${RUN}`,
  `<a title="`,
  `[x](y "onmouseover=${RUN}")`,
  `[x](y '"onmouseover="${RUN}')`,
  `[x](<y" onmouseover="${RUN}>)`,
  `![x" onerror="${RUN}](y)`,
  `![<img src=x onerror=${RUN}>](y)`,
  `[<img src=x onerror=${RUN}>](y)`,
  `<http://x" onclick="${RUN}>`,
  `http://x.example/"onclick="${RUN}`,
  `http://x.example/<script>${RUN}</script>`,
  `\`\`\`"onclick="${RUN}\nx\n\`\`\``,
  `\`\`\`js"><script>${RUN}</script>\nx\n\`\`\``,
  `\`\`\`html\n<script>${RUN}</script>\n\`\`\``,
  `    <script>${RUN}</script>`,
  `\`<script>${RUN}</script>\``,
  `# <script>${RUN}</script> "onclick=${RUN}`,
  `[^"onclick=${RUN}]\n\n[^"onclick=${RUN}]: <script>${RUN}</script>`,
  `- [ ] <img src=x onerror=${RUN}>`,
  `|<img src=x onerror=${RUN}>|\n|-|\n|<script>${RUN}</script>|`,
  `~"<img src=x onerror=${RUN}>" %"<script>${RUN}</script>"`,
  `:<script>${RUN}</script>:`,
  `@<script>${RUN}</script>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `\\<script>${RUN}</script>`,
  `<div>\n\n<script>${RUN}\n\n</script>`,
  `<b><a href="javascript:${RUN}">x</b></a>`,
  `<\u0000script>${RUN}</script>`,
  `<ſcript>${RUN}</ſcript>`,
  `<a/href=javascript:${RUN}>x</a>`,
  `<a href=javascript:${RUN} href=y>x</a>`,
]

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
