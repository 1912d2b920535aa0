/** Parses the query of a file search: `needle filename:*.ts path:src extension:ts`. Pure functions. */

export interface FileTerms {
  readonly text: string
  readonly accepts: (path: string) => boolean
}

const TERM = /(?<!\S)-?(filename|path|extension):(\S+)/g

export function fileTermsOf(search: string): FileTerms {
  const tests: ((path: string) => boolean)[] = []
  const text = search.replace(TERM, (term, kind: string, value: string) => {
    const test = testOf(kind, value.toLowerCase())
    tests.push(term.startsWith('-') ? (path) => !test(path) : test)
    return ''
  })
  return {
    // oxlint-disable-next-line no-control-regex -- the pattern matches control characters
    text: text.replace(/[\0-\x1f\x7f]/g, ' ').trim(),
    accepts: (path) => tests.every((test) => test(path.toLowerCase())),
  }
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

function testOf(kind: string, value: string): (path: string) => boolean {
  if (kind === 'extension') return (path) => nameOf(path).endsWith(`.${value.replace(/^\./, '')}`)
  if (kind === 'path') return (path) => holds(path, value)
  return (path) => holds(nameOf(path), value)
}

/** Whether the parts between stars occur in this order. Each part is searched once. */
function holds(text: string, pattern: string): boolean {
  const parts = pattern.split('*')
  if (parts.length === 1) return text.includes(pattern)
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}
