/**
 * Pages take the serving thread time in proportion to the length of what they show: twice the length costs about twice,
 * and nobody else waits long while the longest is shown. All texts of a world grow at once, each page is opened for the
 * first time after that, and what looks slow is measured again. The costliest are printed with DOUBLING=1.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FEEDS, PLAIN, VISIBLE, addressesOfLong, type Visibility } from './doubling-pages.ts'
import { longestStall, startEffort } from './effort.ts'
import { repeated, type Hostile } from './hostile-texts.ts'
import { lengthen } from './long-world.ts'
import { pageFiles } from './web/addresses.ts'
import { makeWorld, type World } from './web/world.ts'

const TEXTS: readonly Hostile[] = [
  repeated('- [ ] @jane #1 [a](b) **c** `d`\n'),
  repeated('[a]('),
  repeated('\u001b[1ma\n'),
]
const [LENGTH, LONGEST] = [30_000, 900_000]
const MOST_GROWTH = 2.7
/** Milliseconds of this thread. Less tells nothing: a page that shows nothing takes as long. */
const FLOOR = 80
const LONGEST_STALL = 300
const TRIES = 3

let world: World
beforeAll(async () => {
  world = await makeWorld()
})
afterAll(() => world?.[Symbol.asyncDispose]())

test('every page has a row', () => {
  const rows = [...Object.keys(VISIBLE), ...Object.keys(PLAIN)]
  expect(rows.toSorted()).toEqual(pageFiles())
})

interface Seen {
  readonly effort: number
  readonly stall: number
  readonly status: number
  readonly html: string
}

async function open(path: string): Promise<Seen> {
  const effort = startEffort()
  const { answer, stall } = await longestStall(async () => {
    const answer = await fetch(world.forge.url + path, { headers: { ...world.member.headers, Accept: 'text/html' } })
    return { status: answer.status, html: await answer.text() }
  })
  return { effort: effort(), stall, ...answer }
}

const ROWS = { ...VISIBLE, ...FEEDS } as Readonly<Record<string, Visibility>>
const NAMES = Object.keys(ROWS)
let filled = 0

/** Opens pages whose texts have that length, and were never seen before. */
async function openAll({ make }: Hostile, length: number, names: readonly string[]): Promise<Map<string, Seen>> {
  const mark = `mark${++filled}`
  await lengthen(world, `${mark} ${make(length)}`)
  const seen = new Map<string, Seen>()
  const faults: string[] = []
  const addresses = await addressesOfLong(world)
  for (const name of names) {
    const page = await open(addresses[name]!)
    seen.set(name, page)
    // What is too long may be left out.
    const isMissing = length < LONGEST && ROWS[name] === 'whole' && !page.html.includes(mark)
    if (page.status !== 200 || isMissing) faults.push(`${name}: ${page.status}, without ${mark}`)
  }
  expect(faults).toEqual([])
  return seen
}

beforeAll(async () => {
  // What is loaded and compiled once is no part of the measurement.
  await openAll(TEXTS[0]!, LENGTH, NAMES)
})

test.each(TEXTS)('twice of $name costs twice', async (text) => {
  const least = new Map<string, [half: number, whole: number]>()
  let suspects: readonly string[] = NAMES
  for (let n = 0; n < TRIES && suspects.length > 0; n++) {
    const half = await openAll(text, LENGTH, suspects)
    const whole = await openAll(text, 2 * LENGTH, suspects)
    for (const name of suspects) {
      const [a, b] = least.get(name) ?? [Infinity, Infinity]
      least.set(name, [Math.min(a, half.get(name)!.effort), Math.min(b, whole.get(name)!.effort)])
    }
    suspects = NAMES.filter((name) => {
      const [a, b] = least.get(name)!
      return b > FLOOR && b / a > MOST_GROWTH
    })
  }
  print([...least].map(([name, [a, b]]) => [name, b, b / a]))
  expect(suspects.map((name) => [name, ...least.get(name)!])).toEqual([])
})

test('nobody waits long for the longest', async () => {
  const text = TEXTS.at(-1)!
  const seen = await openAll(text, LONGEST, NAMES)
  let slow = [...seen].filter(([, { stall }]) => stall > LONGEST_STALL)
  if (slow.length > 0) {
    const names = slow.map(([name]) => name)
    const again = await openAll(text, LONGEST, names)
    slow = [...again].filter(([, { stall }]) => stall > LONGEST_STALL)
  }
  print([...seen].map(([name, { effort, stall }]) => [name, effort, stall]))
  expect(slow.map(([name, { stall }]) => [name, stall])).toEqual([])
})

function print(rows: (readonly [string, number, number])[]): void {
  const shown = rows.toSorted(([, a], [, b]) => b - a).slice(0, 10)
  const lines = shown.map(([name, a, b]) => [name, a.toFixed(1), b.toFixed(2)].join('\t'))
  if (process.env['DOUBLING']) process.stdout.write(`${lines.join('\n')}\n`)
}
