/**
 * Parses test reports in the JUnit format; throws if the text is no such report. The time is proportional to the length
 * for any input; a thread parses long reports.
 */

export interface TestCase {
  readonly status: 'success' | 'failed' | 'skipped' | 'error'
  readonly name: string
  readonly classname: string
  readonly file: string | null
  /** Seconds. */
  readonly execution_time: number
  readonly system_output: string | null
}

export class BadReport extends Error {
  override name = 'BadReport'
}

const MOST_CASES = 100_000
/** Tags and texts. */
const MOST_TOKENS = 2_000_000
const DEEPEST = 100
const MOST_ATTRIBUTES = 100
const LONGEST_NAME = 1000
const LONGEST_OUTPUT = 10_000
/** The longest character entity: `&#1114111;`. */
const LONGEST_ENTITY = 10

interface Open {
  status: TestCase['status']
  readonly attributes: ReadonlyMap<string, string>
  output: string
}

const RESULTS = new Map([
  ['failure', 'failed'],
  ['error', 'error'],
  ['skipped', 'skipped'],
] as const)

const malformed = () => new BadReport('JUnit XML is not well-formed')
const tooLarge = () => new BadReport('JUnit data is too large')

/** Parses one or several concatenated documents. */
export function readJunit(text: string): TestCase[] {
  const cases: TestCase[] = []
  const open: string[] = []
  let current: Open | null = null
  let suiteFile: string | null = null
  const finish = () => {
    if (current) cases.push(finished(current, suiteFile))
    current = null
  }
  let tokens = 0
  for (const token of tokensOf(text)) {
    if (++tokens > MOST_TOKENS) throw tooLarge()
    if (token.type === 'text') {
      if (current && current.output.length < LONGEST_OUTPUT && RESULTS.has(open.at(-1) as 'failure'))
        current.output += token.isRaw ? token.text.slice(0, LONGEST_OUTPUT) : decoded(token.text, LONGEST_OUTPUT)
      continue
    }
    if (token.type === 'close') {
      if (open.pop() !== token.name) throw malformed()
      if (token.name === 'testcase') finish()
      continue
    }
    const { name, attributes, isEmpty } = token
    if (open.length >= DEEPEST || cases.length >= MOST_CASES) throw tooLarge()
    if (name === 'testsuite') suiteFile = attributes.get('file') ?? attributes.get('filepath') ?? null
    if (name === 'testcase') current = { status: 'success', attributes, output: '' }
    const result = RESULTS.get(name as 'failure')
    if (current && result) {
      current.status = result
      if (isEmpty) current.output += attributes.get('message') ?? ''
    }
    if (!isEmpty) open.push(name)
    else if (name === 'testcase') finish()
  }
  if (open.length > 0) throw malformed()
  return cases
}

function finished({ status, attributes, output }: Open, suiteFile: string | null): TestCase {
  const seconds = Number((attributes.get('time') ?? '0').slice(0, 50).replaceAll(',', ''))
  return {
    status,
    name: (attributes.get('name') ?? '').slice(0, LONGEST_NAME),
    classname: (attributes.get('classname') ?? '').slice(0, LONGEST_NAME),
    file: (attributes.get('file') ?? suiteFile)?.slice(0, LONGEST_NAME) ?? null,
    execution_time: Number.isFinite(seconds) ? seconds : 0,
    system_output: status === 'success' ? null : output.trim().slice(0, LONGEST_OUTPUT) || null,
  }
}

type Token =
  | { readonly type: 'text'; readonly text: string; readonly isRaw: boolean }
  | { readonly type: 'close'; readonly name: string }
  | {
      readonly type: 'open'
      readonly name: string
      readonly attributes: ReadonlyMap<string, string>
      readonly isEmpty: boolean
    }

/** Comments and processing instructions are skipped; only the standard entities are known. Each step reads forward. */
function* tokensOf(text: string): Generator<Token> {
  let at = 0
  while (at < text.length) {
    const next = text.indexOf('<', at)
    const end = next < 0 ? text.length : next
    if (end > at) yield { type: 'text', text: text.slice(at, end), isRaw: false }
    if (next < 0) return
    if (text.startsWith('<![CDATA[', next)) {
      const close = endOf(text, ']]>', next + 9)
      yield { type: 'text', text: text.slice(next + 9, close), isRaw: true }
      at = close + 3
    } else if (text.startsWith('<!--', next)) at = endOf(text, '-->', next + 4) + 3
    else if (text.startsWith('<?', next)) at = endOf(text, '?>', next + 2) + 2
    else if (text.startsWith('<!', next)) throw new BadReport('JUnit XML with a document type is not read')
    else {
      const tag = new TagReader(text, next + 1)
      yield tag.read()
      at = tag.at
    }
  }
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  if (found < 0) throw malformed()
  return found
}

// Sticky patterns, bounded by the maximum length of a name.
const NAME = /[^\s=/<>"']{1,200}/y
const SPACE = /\s*/y
/** Attributes that are read; others are skipped. */
const KNOWN_ATTRIBUTES = new Set(['name', 'classname', 'file', 'filepath', 'time', 'message'])

class TagReader {
  readonly #text: string
  at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.at = at
  }

  read(): Token {
    const isEnd = this.#skip('/')
    const name = this.#name()
    const attributes = new Map<string, string>()
    let count = 0
    while (this.#space() && !this.#text.startsWith('>', this.at) && !this.#text.startsWith('/>', this.at)) {
      if (isEnd) throw malformed()
      if (++count > MOST_ATTRIBUTES) throw tooLarge()
      const [key, value] = this.#attribute()
      if (KNOWN_ATTRIBUTES.has(key)) attributes.set(key, decoded(value, LONGEST_OUTPUT))
    }
    const isEmpty = this.#skip('/')
    this.#expect('>')
    if (isEnd) return { type: 'close', name }
    return { type: 'open', name, attributes, isEmpty }
  }

  #attribute(): [key: string, value: string] {
    const key = this.#name()
    this.#space()
    this.#expect('=')
    this.#space()
    const quote = this.#text[this.at]
    if (quote !== '"' && quote !== "'") throw malformed()
    const end = endOf(this.#text, quote, this.at + 1)
    const value = this.#text.slice(this.at + 1, end)
    this.at = end + 1
    return [key, value]
  }

  #name(): string {
    NAME.lastIndex = this.at
    const name = NAME.exec(this.#text)?.[0]
    if (name === undefined) throw malformed()
    this.at += name.length
    return name
  }

  /** Always true. */
  #space(): true {
    SPACE.lastIndex = this.at
    this.at += SPACE.exec(this.#text)![0].length
    return true
  }

  #skip(mark: string): boolean {
    const isThere = this.#text.startsWith(mark, this.at)
    if (isThere) this.at += mark.length
    return isThere
  }

  #expect(mark: string): void {
    if (!this.#skip(mark)) throw malformed()
  }
}

const KNOWN: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Returns at most `most` characters, and reads only as much input as these may take. */
function decoded(text: string, most: number): string {
  const start = text.slice(0, most * LONGEST_ENTITY)
  if (!start.includes('&')) return start.slice(0, most)
  const whole = start.replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w{1,4}));/gi, (whole, hex, number, name) => {
    if (name !== undefined) return KNOWN[name as string] ?? whole
    const code = hex === undefined ? Number(number) : parseInt(hex as string, 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  })
  return whole.slice(0, most)
}
