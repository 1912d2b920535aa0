/** Texts written to be slow to read, of any length, and what reading them costs as they grow. */
import { startEffort } from './effort.ts'

/** One character or a few, again and again. */
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

/** Something that opens, as often as it is closed. */
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

/** Between other text: what stands at an end is looked for only there. */
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
 * Milliseconds of a thread that answers others. The mark is 100 on a quiet machine; beside other work the same
 * instructions take up to twice the processor time.
 */
const LONGEST = 200
/** Less tells nothing: a collection of garbage takes as long. */
const FLOOR = 20
const TRIES = 5

export interface Cost {
  readonly name: string
  /** Milliseconds of this thread at the limit. */
  readonly ms: number
  /** Of twice the length; null where it is too little to tell. */
  readonly growth: number | null
  readonly fault: string | null
}

async function effortOf(run: (text: string) => unknown, text: string): Promise<number> {
  const effort = startEffort()
  try {
    await run(text)
  } catch {
    // A refusal is an answer.
  }
  return effort()
}

/** The least of several: others disturb, and the first is read by an interpreter. */
async function leastEffort(run: (text: string) => unknown, text: string, isEnough: (ms: number) => boolean) {
  let least = Infinity
  for (let n = 0; n < TRIES && !isEnough(least); n++) least = Math.min(least, await effortOf(run, text))
  return least
}

/** Begins with short texts, so that what grows fast is known before it takes for ever. */
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
