/**
 * Parses job logs: lines with colours, in collapsible sections. Nothing here renders. A log may contain anything: the
 * time is proportional to its length, and the number of sections and coloured runs is limited.
 */

/** A piece of text with one style. */
export interface Run {
  readonly text: string
  /** Class names; empty for plain text. */
  readonly look: string
}

export interface LogLine {
  readonly number: number
  readonly runs: readonly Run[]
}

export interface LogSection {
  readonly name: string
  readonly head: LogLine
  readonly isCollapsed: boolean
  /** Its duration in seconds; null while it runs. */
  readonly seconds: number | null
  readonly items: readonly LogItem[]
}

export type LogItem = LogLine | LogSection

export const isSection = (item: LogItem): item is LogSection => 'items' in item

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

/** RGB values of the basic colours, to find the nearest one of another colour. */
const SHADES: readonly (readonly [number, number, number])[] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
]

interface Style {
  front: string
  back: string
  marks: Set<string>
}

const plain = (): Style => ({ front: '', back: '', marks: new Set() })

const lookOf = ({ front, back, marks }: Style): string =>
  [front && `ansi-${front}`, back && `ansi-on-${back}`, ...Array.from(marks, (mark) => `ansi-${mark}`)]
    .filter(Boolean)
    .join(' ')

function nearest(red: number, green: number, blue: number): string {
  const distances = SHADES.map(([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2)
  return COLOURS[distances.indexOf(Math.min(...distances))]!
}

/** One of the 256 colours: 16 basic ones, a cube of 6 × 6 × 6, and greys. */
function ofPalette(number: number): string {
  if (number < 16) return COLOURS[number % 8]!
  if (number >= 232)
    return nearest(
      ...(([8 + (number - 232) * 10] as const).flatMap((grey) => [grey, grey, grey]) as [number, number, number]),
    )
  const at = number - 16
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40)
  return nearest(level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6))
}

const MARKS: Record<number, string> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 9: 'struck' }
const UNMARKS: Record<number, readonly string[]> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  29: ['struck'],
}

/** Changes the style as a terminal would: `1;31`. */
function restyle(style: Style, codes: string): void {
  const numbers = codes === '' ? [0] : codes.split(/[;:]/).map(Number)
  for (let n = 0; n < numbers.length; n++) {
    const code = numbers[n]!
    if (code === 0) Object.assign(style, plain())
    else if (MARKS[code]) style.marks.add(MARKS[code])
    else if (UNMARKS[code]) for (const mark of UNMARKS[code]) style.marks.delete(mark)
    else if (code === 39) style.front = ''
    else if (code === 49) style.back = ''
    else if (code === 38 || code === 48) {
      const isRich = numbers[n + 1] === 2
      const at = (offset: number) => numbers[n + offset] ?? 0
      const colour = isRich ? nearest(at(2), at(3), at(4)) : ofPalette(at(2))
      if (code === 38) style.front = colour
      else style.back = colour
      n += isRich ? 4 : 2
    } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) style.front = COLOURS[code % 10]!
    else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) style.back = COLOURS[code % 10]!
  }
}

/* oxlint-disable no-control-regex -- terminal control sequences begin with these */
const CODE = /\u001b(?:\[([0-9;:?]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g
// Each part has a length limit: an open bracket is not searched to the end of the line.
const MARKER =
  /(?:\u001b\[0K)?section_(start|end):(\d{1,20}):([\w.-]{1,255})(?:\[([^\]\n]{0,100})\])?\r?(?:\u001b\[0K)?/g
/* oxlint-enable no-control-regex */

/** Maximum nesting. Deeper sections become part of the surrounding one. */
const DEEPEST_SECTION = 20
const MOST_SECTIONS = 1000
/** Styled runs of text; beyond the limit the rest of a line keeps one style. */
const MOST_RUNS = 10_000

/** The visible text on a terminal: text after a carriage return replaces the text before it. */
function overwritten(text: string): string {
  if (!text.includes('\r')) return text
  return text.split('\r').findLast((part) => part.replace(CODE, '') !== '') ?? ''
}

/** The remaining limits of one log. */
interface Budget {
  runs: number
  sections: number
}

function runsOf(text: string, style: Style, budget: Budget): Run[] {
  const runs: Run[] = []
  const rest: string[] = []
  const add = (piece: string) => {
    if (piece === '') return
    if (runs.length > 0 && budget.runs <= 0) rest.push(piece)
    else {
      budget.runs--
      runs.push({ text: piece, look: lookOf(style) })
    }
  }
  let at = 0
  if (text.includes('\u001b'))
    for (const match of text.matchAll(CODE)) {
      add(text.slice(at, match.index))
      if (match[2] === 'm') restyle(style, match[1] ?? '')
      at = match.index + match[0].length
    }
  add(text.slice(at))
  if (rest.length > 0) {
    const last = runs.pop()!
    runs.push({ ...last, text: last.text + rest.join('') })
  }
  return runs
}

interface OpenSection {
  name: string
  head: LogLine
  isCollapsed: boolean
  seconds: number | null
  items: LogItem[]
  begun: number
}

/** `first` is the number of the first line. */
export function readLog(content: string, first = 1): LogItem[] {
  const items: LogItem[] = []
  const open: OpenSection[] = []
  const style = plain()
  const budget = { runs: MOST_RUNS, sections: MOST_SECTIONS }
  const lines = content.split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (const [n, raw] of lines.entries()) {
    const number = first + n
    let started: OpenSection | null = null
    let text = raw
    if (raw.includes('section_')) {
      const pieces: string[] = []
      let at = 0
      for (const { 0: marker, 1: kind, 2: time, 3: name = '', 4: options, index } of raw.matchAll(MARKER)) {
        pieces.push(raw.slice(at, index))
        at = index + marker.length
        if (kind === 'end') {
          if (closeSection(open, name, Number(time)) === started) started = null
        } else if (open.length < DEEPEST_SECTION && --budget.sections >= 0) {
          started = openSection(name, Number(time), options)
          ;(open.at(-1)?.items ?? items).push(started)
          open.push(started)
        }
      }
      text = pieces.join('') + raw.slice(at)
    }
    const line = { number, runs: runsOf(overwritten(text), style, budget) }
    if (started) started.head = line
    // A line that only ends a section is not shown.
    else if (text === raw || line.runs.length > 0) (open.at(-1)?.items ?? items).push(line)
  }
  return items
}

const openSection = (name: string, begun: number, options = ''): OpenSection => ({
  name,
  head: { number: 0, runs: [] },
  isCollapsed: /\bcollapsed=true\b/.test(options),
  seconds: null,
  items: [],
  begun,
})

/** Also closes the sections left open inside. An end without a start is ignored. */
function closeSection(open: OpenSection[], name: string, time: number): OpenSection | null {
  const at = open.findLastIndex((one) => one.name === name)
  if (at < 0) return null
  const [closed] = open.splice(at)
  closed!.seconds = Math.max(0, time - closed!.begun)
  return closed!
}

/** The text of a line without its styles. */
export const textOf = ({ runs }: LogLine): string => runs.map(({ text }) => text).join('')

/** Drops lines from the start until at most `most` are left; returns the number of dropped lines. */
export function keepLast(content: string, most: number): { content: string; dropped: number } {
  const ends: number[] = []
  for (let at = content.indexOf('\n'); at >= 0; at = content.indexOf('\n', at + 1)) ends.push(at)
  const dropped = ends.length - most
  return dropped <= 0 ? { content, dropped: 0 } : { content: content.slice(ends[dropped - 1]! + 1), dropped }
}
