/** Reports of tests as JUnit writes them. Read in one pass; what is no report of that form is said so. */
import { pauses } from './pauses.ts'

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
const DEEPEST = 100
const LONGEST_NAME = 1000
const LONGEST_OUTPUT = 10_000

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

/** One or several documents, one after the other. */
export async function readJunit(text: string): Promise<TestCase[]> {
  const pause = pauses()
  const cases: TestCase[] = []
  const open: string[] = []
  let current: Open | null = null
  let suiteFile: string | null = null
  for (const token of tokensOf(text)) {
    await pause()
    if (token.type === 'text') {
      if (current && current.output.length < LONGEST_OUTPUT && RESULTS.has(open.at(-1) as 'failure'))
        current.output += token.text.slice(0, LONGEST_OUTPUT)
      continue
    }
    if (token.type === 'close') {
      if (open.pop() !== token.name) throw new BadReport('JUnit XML is not well-formed')
      if (token.name === 'testcase' && current) {
        cases.push(finished(current, suiteFile))
        current = null
      }
      continue
    }
    const { name, attributes, isEmpty } = token
    if (open.length >= DEEPEST || cases.length >= MOST_CASES) throw new BadReport('JUnit data is too large')
    if (name === 'testsuite') suiteFile = attributes.get('file') ?? attributes.get('filepath') ?? null
    if (name === 'testcase') current = { status: 'success', attributes, output: '' }
    const result = RESULTS.get(name as 'failure')
    if (current && result) {
      current.status = result
      if (isEmpty) current.output += attributes.get('message') ?? ''
    }
    if (!isEmpty) open.push(name)
    else if (name === 'testcase' && current) {
      cases.push(finished(current, suiteFile))
      current = null
    }
  }
  if (open.length > 0) throw new BadReport('JUnit XML is not well-formed')
  return cases
}

function finished({ status, attributes, output }: Open, suiteFile: string | null): TestCase {
  const seconds = Number((attributes.get('time') ?? '0').replaceAll(',', ''))
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
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'close'; readonly name: string }
  | {
      readonly type: 'open'
      readonly name: string
      readonly attributes: ReadonlyMap<string, string>
      readonly isEmpty: boolean
    }

/** Comments, declarations and instructions are passed over; there are no entities but those everybody knows. */
function* tokensOf(text: string): Generator<Token> {
  let at = 0
  while (at < text.length) {
    const next = text.indexOf('<', at)
    const end = next < 0 ? text.length : next
    if (end > at) yield { type: 'text', text: decoded(text.slice(at, end)) }
    if (next < 0) return
    if (text.startsWith('<![CDATA[', next)) {
      const close = endOf(text, ']]>', next + 9)
      yield { type: 'text', text: text.slice(next + 9, close) }
      at = close + 3
    } else if (text.startsWith('<!--', next)) at = endOf(text, '-->', next + 4) + 3
    else if (text.startsWith('<?', next)) at = endOf(text, '?>', next + 2) + 2
    else if (text.startsWith('<!', next)) throw new BadReport('JUnit XML with a document type is not read')
    else {
      const close = endOfTag(text, next + 1)
      yield tagIn(text.slice(next + 1, close))
      at = close + 1
    }
  }
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  if (found < 0) throw new BadReport('JUnit XML is not well-formed')
  return found
}

/** A `>` inside of quotes is none. */
function endOfTag(text: string, from: number): number {
  let quote = ''
  for (let at = from; at < text.length; at++) {
    const char = text[at]!
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '>') return at
  }
  throw new BadReport('JUnit XML is not well-formed')
}

const NAME = /^\/?([^\s/]+)/
const ATTRIBUTE = /([^\s=/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

function tagIn(inside: string): Token {
  const name = NAME.exec(inside)?.[1]
  if (name === undefined) throw new BadReport('JUnit XML is not well-formed')
  if (inside.startsWith('/')) return { type: 'close', name }
  const attributes = new Map<string, string>()
  for (const [, key, one, other] of inside.slice(name.length).matchAll(ATTRIBUTE))
    attributes.set(key!, decoded(one ?? other ?? ''))
  return { type: 'open', name, attributes, isEmpty: inside.endsWith('/') }
}

const KNOWN: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function decoded(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w{1,4}));/gi, (whole, hex, number, name) => {
    if (name !== undefined) return KNOWN[name as string] ?? whole
    const code = hex === undefined ? Number(number) : parseInt(hex as string, 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  })
}
