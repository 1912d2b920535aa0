/**
 * The time to read a text is proportional to its length, for any content: twice the length costs about twice, and the
 * longest allowed text blocks the thread for less than 100 ms. CPU time is measured, and slow results are measured
 * again. DOUBLING=1 prints the most expensive functions.
 */
import { expect, test } from 'vitest'
import { EXEMPT, IN_PIECES, LISTS, ROWS, STREAMS } from './doubling-table.ts'
import { HOSTILE, costOf, type Cost } from './hostile-texts.ts'
import { textFunctions } from './text-functions.ts'

test('every exported function that takes a text has a row', async () => {
  const rows = [ROWS, IN_PIECES, EXEMPT].flatMap((table) => Object.keys(table))
  expect(rows.toSorted()).toEqual(await textFunctions())
})

const worst: (Cost & { readonly function: string })[] = []

async function faultsOf(name: string, costs: AsyncIterable<Cost>): Promise<string[]> {
  const faults: string[] = []
  for await (const cost of costs) {
    worst.push({ ...cost, function: name })
    if (cost.fault) faults.push(`${cost.name}: ${cost.fault}`)
  }
  return faults
}

test.each(Object.entries({ ...ROWS, ...STREAMS }))('%s', async (name, { limit, run, more = [] }) => {
  async function* costs() {
    for (const hostile of [...HOSTILE, ...more]) yield await costOf(run, hostile, limit)
  }
  expect(await faultsOf(name, costs())).toEqual([])
})

test.each(Object.entries(LISTS))('%s', async (name, { limit, run }) => {
  async function* costs() {
    // The length of the text is that of the list.
    yield await costOf((text) => run(text.length), { name: 'items', make: (length) => ' '.repeat(length) }, limit)
  }
  expect(await faultsOf(name, costs())).toEqual([])
})

test('the costliest', () => {
  const shown = worst.toSorted((a, b) => b.ms - a.ms).slice(0, 10)
  const lines = shown.map(({ function: of, name, ms, growth }) =>
    [of, name, ms.toFixed(1), growth?.toFixed(2)].join('\t'),
  )
  if (process.env['DOUBLING']) process.stdout.write(`${lines.join('\n')}\n`)
  expect(shown.every(({ fault }) => fault === null)).toBe(true)
})
