/** Parses the markup of a page strictly, without a browser: anything that is not clearly ours is an error. */

const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z][\w:-]*(?:="[^"<]*")?)*)\s*\/?>/g
const DATA = /<script type="application\/json" id="data">([^<]*)<\/script>/
const SCRIPT = /^\s+type="module"\s+src="\/-\/assets\/[\w.-]+\.js"$/

const unescape = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll(/&#0*39;|&#x27;/g, "'")
    .replaceAll('&amp;', '&')

const ADDRESSES = new Set(['href', 'src', 'action', 'formaction', 'poster', 'cite', 'data', 'ping'])

/** As browsers parse it: spaces and control characters are ignored. */
// oxlint-disable-next-line no-control-regex -- as above
const schemeOf = (address: string) => /^([a-z][a-z0-9+.-]*):/i.exec(address.replaceAll(/[\u0000-\u0020]/g, ''))?.[1]

/** Scripts, handlers, styles and URLs that our pages do not have. */
export function markupFaults(html: string): string[] {
  const faults: string[] = []
  const rest = html
    .replace(/^<!doctype html>/, '')
    .replace(DATA, '')
    .replaceAll(TAG, (_, isEnd: string, tag: string, attributes: string) => {
      if (isEnd) return ''
      if (tag === 'script' && !SCRIPT.test(attributes)) faults.push(`<script${attributes}>`)
      if (/^(style|iframe|object|embed|base|frame|applet)$/.test(tag)) faults.push(`<${tag}>`)
      if (tag === 'meta' && /http-equiv/i.test(attributes)) faults.push(`<meta${attributes}>`)
      for (const [, name = '', value = ''] of attributes.matchAll(/\s([a-zA-Z][\w:-]*)(?:="([^"]*)")?/g)) {
        if (/^on/i.test(name) || /^(style|srcdoc)$/i.test(name)) faults.push(`${tag} ${name}`)
        const scheme = schemeOf(unescape(value))?.toLowerCase()
        // An image runs no code, whatever it contains.
        if (tag === 'img' && name === 'src' && value.startsWith('data:image/')) continue
        if (ADDRESSES.has(name.toLowerCase()) && scheme && !/^(https?|mailto|ssh|git|ftp)$/.test(scheme))
          faults.push(`${tag} ${name}=${value}`)
      }
      return ''
    })
  const at = rest.replace('</script>', '').indexOf('<')
  return at < 0 ? faults : [...faults, `not read: ${rest.slice(at, at + 80)}`]
}

/** The targets of the links of a page. */
export const linksOf = (html: string): string[] =>
  [...html.matchAll(/<a\s[^>]*?href="([^"]*)"/g)].map(([, address]) => unescape(address!))

/** The fields of the post forms of a page, by form. */
export function postsOf(html: string): Map<string, string>[] {
  const forms = html.match(/<form[^>]*method="post"[^>]*>[^]*?<\/form>/g) ?? []
  return forms.map(
    (form) =>
      new Map(
        [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [
          name!,
          unescape(value!),
        ]),
      ),
  )
}
