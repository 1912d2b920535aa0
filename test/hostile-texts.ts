/** Texts of any length that are slow to read, and the cost of reading them as they grow. */
import { startEffort } from './effort.ts'

/** One character or a few, repeated. */
const PIECES = [
  'a',
  'A',
  '0',
  ' ',
  '\n',
  '\t',
  '\r',
  'é',
  '\u0000',
  '😀',
  '\ud83d',
  '\u001b',
  '(',
  '[',
  '{',
  '<',
  '`',
  '~',
  '*',
  '_',
  '#',
  '@',
  '!',
  '&',
  '\\',
  '/',
  '-',
  '.',
  ':',
  '%',
  '"',
  "'",
  '$',
  '?',
  '|',

  '[a](',
  '![](',
  '![',
  '<a ',
  '<!--',
  '</a>',
  '&amp;',
  '&#1;',
  '&a',
  '```\n',
  '`` ` ',
  '- [ ] a\n',
  '> ',
  '>>>\n',
  '/label ~a\n',
  '/a ',
  '@a ',
  '#1 ',
  'a#1 ',
  'a/',
  '../',
  '%41',
  '%',
  'a=b&',
  'a[b]=',
  'a[]=&',
  '{a,b}',
  '**/',
  '*a',

  '1:',
  '1h ',
  'https://a/',
  'Closes #1, ',
  'a@b.',
  '=?',
  '<details>\n',
  '</details>\n',
  '$A',
  '${',
  '$[[',
  '"a" == ',

  '\u001b[1m',
  '\u001b]',
  '38;5;1;',
  'section_start:1:a[',
  'section_start:1:a\n',
  'x\r',
  'ABC-1 ',
  'deadbeef ',
  'a\n',

  '/uploads/00000000000000000000000000000000/',
  '-----BEGIN PGP ',
  '~"a',
  '%"',
  'a b ',
  '\r\n',
  '1. ',
  '* * *\n',
  '|-|',
]

/** Openings, and as many closings. */
const PAIRS = [
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['<a>', '</a>'],
  ['> ', '\n'],
  ['- ', '\n'],
] as const

export interface Hostile {
  readonly name: string
  make(length: number): string
}

const filled = (piece: string, length: number) => piece.repeat(Math.max(1, Math.floor(length / piece.length)))

/** Inside other text, because patterns at an end are searched only there. */
const within = (piece: string, before: string, after: string): Hostile => ({
  name: JSON.stringify(`${before}${piece}…${after}`),
  make: (length) => before + filled(piece, length - before.length - after.length) + after,
})

export const repeated = (piece: string): Hostile => within(piece, '', '')
export const between = within

export const HOSTILE: readonly Hostile[] = [
  ...PIECES.map(repeated),
  ...PIECES.filter((piece) => piece.length === 1).map((piece) => within(piece, 'x', 'x')),
  ...PAIRS.map(([open, close]) => ({
    name: JSON.stringify(`${open}…${close}…`),
    make: (length: number) => filled(open, length / 2) + filled(close, length / 2),
  })),
  {
    name: 'words that all differ',
    make: (length) => Array.from({ length: Math.floor(length / 8) }, (_, n) => String(n).padStart(7, 'z')).join(' '),
  },
  {
    name: 'lines that all differ',
    make: (length) => Array.from({ length: Math.floor(length / 8) }, (_, n) => String(n).padStart(7, 'z')).join('\n'),
  },
]

/** Twice the length costs twice, with a margin. */
const MOST_GROWTH = 2.7
/**
 * Milliseconds that may block the thread. The target is 100 on an idle machine; under load the same instructions take
 * up to twice the CPU time.
 */
const LONGEST = 200
/** Below this a measurement is meaningless: a garbage collection takes as long. */
const FLOOR = 20
const TRIES = 5

export interface Cost {
  readonly name: string
  /** Milliseconds of CPU time at the maximum length. */
  readonly ms: number
  /** The factor for twice the length; null if the time is too short to tell. */
  readonly growth: number | null
  readonly fault: string | null
}

async function effortOf(run: (text: string) => unknown, text: string): Promise<number> {
  const effort = startEffort()
  try {
    await run(text)
  } catch {
    // A rejection is a valid result.
  }
  return effort()
}

/** The least of several runs: other load disturbs, and the first run is interpreted. */
async function leastEffort(run: (text: string) => unknown, text: string, isEnough: (ms: number) => boolean) {
  let least = Infinity
  for (let n = 0; n < TRIES && !isEnough(least); n++) least = Math.min(least, await effortOf(run, text))
  return least
}

/** Starts with short texts, so that fast growth is detected before a run takes for ever. */
export async function costOf(run: (text: string) => unknown, { name, make }: Hostile, limit: number): Promise<Cost> {
  const early = await leastEffort(run, make(limit / 8), (least) => least < LONGEST / 2)
  if (early >= LONGEST / 2)
    return { name, ms: early, growth: null, fault: `${early.toFixed()} ms for ${limit / 8} characters` }
  const whole = make(limit)
  const ms = await leastEffort(run, whole, (least) => least < FLOOR)
  if (ms < FLOOR) return { name, ms, growth: null, fault: null }
  if (ms >= LONGEST) return { name, ms, growth: null, fault: `${ms.toFixed()} ms for ${limit} characters` }
  const half = make(limit / 2)
  let growth = ms / (await leastEffort(run, half, (least) => least < Infinity && ms / least < MOST_GROWTH))
  if (growth >= MOST_GROWTH) {
    const repeated = await leastEffort(run, whole, () => false)
    growth = repeated / (await leastEffort(run, half, () => false))
  }
  const isFast = growth >= MOST_GROWTH && ms > FLOOR
  return { name, ms, growth, fault: isFast ? `grows ${growth.toFixed(1)} times for ${limit} characters` : null }
}
