import { expect, test } from 'vitest'
import { drawGraph, shortened } from '../../web/pages/project/pipelines/graph.ts'
import { startEffort } from '../effort.ts'
import { isSection, keepLast, readLog, textOf, type LogItem } from '../../web/pages/project/jobs/[job]/log.ts'

const ESC = '\u001b'

/** Lines as text, sections as their title and content. */
const outline = (items: readonly LogItem[]): unknown[] =>
  items.map((item) =>
    isSection(item) ? [textOf(item.head), ...outline(item.items)] : `${item.number} ${textOf(item)}`,
  )

const runsOf = (text: string) => {
  const [line] = readLog(text)
  return line && !isSection(line) ? line.runs.map(({ text, look }) => [text, look]) : null
}

test.each([
  ['plain', [['plain', '']]],
  [
    `${ESC}[31mred${ESC}[0m not`,
    [
      ['red', 'ansi-red'],
      [' not', ''],
    ],
  ],
  [
    `${ESC}[1;92mbold${ESC}[22m still`,
    [
      ['bold', 'ansi-green ansi-bold'],
      [' still', 'ansi-green'],
    ],
  ],
  [
    `${ESC}[37;41mon${ESC}[49;39moff`,
    [
      ['on', 'ansi-white ansi-on-red'],
      ['off', ''],
    ],
  ],
  [`${ESC}[38;5;196mrich${ESC}[m`, [['rich', 'ansi-red']]],
  [`${ESC}[48;2;0;0;250mtrue`, [['true', 'ansi-on-blue']]],
  [`${ESC}[38;5;244mgrey`, [['grey', expect.stringMatching(/^ansi-\w+$/)]]],
  [
    `a${ESC}[2Kb${ESC}]0;title\u0007c`,
    [
      ['a', ''],
      ['b', ''],
      ['c', ''],
    ],
  ],
  ['10 %\r50 %\r100 %\r', [['100 %', '']]],
  ['<script>&amp;', [['<script>&amp;', '']]],
  ['', []],
])('%j is shown as a terminal would', (text, runs) => {
  expect(runsOf(`${text}\n`)).toEqual(runs)
})

test('a colour lasts over lines until it ends', () => {
  const lines = readLog(`${ESC}[32mone\ntwo${ESC}[0m\nthree\n`)
  expect(lines.map((line) => !isSection(line) && line.runs[0]!.look)).toEqual(['ansi-green', 'ansi-green', ''])
})

const start = (name: string, time: number, options = '') => `section_start:${time}:${name}${options}\r${ESC}[0K`
const end = (name: string, time: number) => `section_end:${time}:${name}\r${ESC}[0K`

test('sections fold, one in the other', () => {
  const log = [
    'before',
    `${start('outer', 10)}Outer`,
    'a',
    `${start('inner', 11, '[collapsed=true]')}Inner`,
    'b',
    end('inner', 14),
    'c',
    `${end('outer', 20)}${start('next', 20)}Next`,
    'd',
  ]
  const items = readLog(log.join('\n'), 100)
  expect(outline(items)).toEqual(['100 before', ['Outer', '102 a', ['Inner', '104 b'], '106 c'], ['Next', '108 d']])
  const [, outer, next] = items
  expect(outer).toMatchObject({ name: 'outer', seconds: 10, isCollapsed: false, head: { number: 101 } })
  expect(outer && isSection(outer) && outer.items[1]).toMatchObject({ seconds: 3, isCollapsed: true })
  expect(next).toMatchObject({ name: 'next', seconds: null })
})

test('an end without a start ends nothing, and an outer end ends what was left open', () => {
  const log = `x\n${end('lost', 1)}\n${start('a', 1)}A\n${start('b', 2)}B\ny\n${end('a', 3)}\nz`
  expect(outline(readLog(log))).toEqual(['1 x', ['A', ['B', '5 y']], '7 z'])
})

test('sections nest so deep and no deeper, and colours end at a limit; no text is lost', () => {
  const nested = Array.from({ length: 10_000 }, (_, n) => `${start('a', n)}${n}`).join('\n')
  const depth = (items: readonly LogItem[]): number =>
    Math.max(0, ...items.map((item) => (isSection(item) ? 1 + depth(item.items) : 0)))
  const texts = (items: readonly LogItem[]): string[] =>
    items.flatMap((item) => (isSection(item) ? [textOf(item.head), ...texts(item.items)] : [textOf(item)]))
  expect(depth(readLog(nested))).toBe(20)
  expect(texts(readLog(nested))).toEqual(Array.from({ length: 10_000 }, (_, n) => String(n)))

  const [line] = readLog(`${ESC}[31mx${ESC}[32my`.repeat(20_000))
  expect(line && !isSection(line) && [line.runs.length, textOf(line)]).toEqual([10_000, 'xy'.repeat(20_000)])
  expect(readLog(`${start('a', 1)}${end('a', 2)}`.repeat(5000)).filter(isSection).length).toBe(1000)
})

test('only so many lines are kept', () => {
  expect(keepLast('a\nb\nc\nd', 10)).toEqual({ content: 'a\nb\nc\nd', dropped: 0 })
  expect(keepLast('a\nb\nc\n', 2)).toEqual({ content: 'b\nc\n', dropped: 1 })
})

test('a long log is read fast', () => {
  const effort = startEffort()
  readLog(`${ESC}[32mok${ESC}[0m some text of a line\n`.repeat(50_000))
  expect(effort()).toBeLessThan(3000)
})

const job = (name: string, needs: string[] | null = null) => ({
  id: name.length,
  name,
  kind: 'job' as const,
  status: 'success' as const,
  allow_failure: false,
  duration: null,
  needs,
  web_url: null,
})

test('jobs stand in the column of their stage, with lines from what they need', () => {
  const { jobs, lines, heads } = drawGraph([
    { name: 'build', jobs: [job('a'), job('bb')] },
    { name: 'test', jobs: [job('ccc', ['a', 'nowhere']), job('dddd', ['ccc'])] },
  ])
  expect(heads.map(({ name }) => name)).toEqual(['build', 'test'])
  expect(lines.map(({ from, to }) => [from, to])).toEqual([
    ['a', 'ccc'],
    ['ccc', 'dddd'],
  ])
  const [a, b, c] = jobs
  expect([a!.x === b!.x, a!.y < b!.y, a!.x < c!.x, a!.y === c!.y]).toEqual([true, true, true, true])
  expect(shortened('a very long name of a job')).toBe('a very long name of …')
})
