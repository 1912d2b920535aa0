/**
 * Every text parameter has a maximum length, and at that length blocks nobody. Both are checked for all declarations,
 * so a new family is covered too.
 */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Endpoint } from '../src/api/endpoint.ts'
import { LONGEST } from '../src/api/wire.ts'
import { MINUTE } from '../src/clock.ts'
import { testDatabaseUrl } from '../src/config.ts'
import { startForge } from '../src/forge.ts'
import { call } from './cases.ts'
import { longestStall } from './effort.ts'
import { endpointsByFamily, nameOf, v4 } from './endpoints.ts'
import { addressWith, sharedWorld, worldOf, type World } from './world.ts'

type Step = string | 0

/** A text in an input: its path, and its maximum length. */
interface Text {
  readonly at: readonly Step[]
  readonly most: number
}

/** The texts of a schema and all nested ones; `most` is Infinity if there is no maximum. */
function textsIn(schema: z.core.$ZodType, at: readonly Step[] = []): Text[] {
  const { def } = (schema as z.ZodType)._zod
  if (schema instanceof z.ZodString) {
    // A text with a format is rejected by its length too.
    return schema.meta()?.format ? [] : [{ at, most: schema.maxLength ?? Infinity }]
  }
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([name, inner]) => textsIn(inner as z.ZodType, [...at, name]))
  }
  if (schema instanceof z.ZodArray) return textsIn(schema.element, [...at, 0])
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => textsIn(option, at))
  if (schema instanceof z.ZodPipe) {
    // The input of a pipe was already limited in length.
    const [first, second] = [textsIn(schema.in, at), textsIn(schema.out, at)]
    return first.length > 0 ? first : second
  }
  return 'innerType' in def ? textsIn(def.innerType as z.ZodType, at) : []
}

const inputOf = (endpoint: Endpoint): Text[] => (endpoint.input ? textsIn(endpoint.input) : [])
const paramsOf = (endpoint: Endpoint): Text[] => (endpoint.on ? textsIn(endpoint.on.params) : [])

test('every text has an end', () => {
  expect(textsIn(z.object({ a: z.array(z.object({ b: z.string().nullish() })) }))).toEqual([
    { at: ['a', 0, 'b'], most: Infinity },
  ])
  const endless = v4.flatMap((endpoint) =>
    [...inputOf(endpoint), ...paramsOf(endpoint)]
      .filter(({ most }) => most === Infinity)
      .map(({ at }) => `${nameOf(endpoint)} ${at.join('.')}`),
  )
  expect(endless).toEqual([])
})

/** Each would slow down code that reads the same characters again and again, or copies its state for each of them. */
const SHAPES: readonly (readonly [first: string, repeated: string, last: string])[] = [
  ['x', ' ', 'x'],
  ['x', '-', 'x'],
  ['x\n\n', 'a:b\n', ''],
  ['', '\r', 'x'],
  ['', '<', ''],
  ['', 'd/', 'x'],
  ['x', '/', 'x'],
  ['', 'a.', '!'],
  ['', 'a@', 'x'],
  ['', '(', ''],
  ['https://', 'a.', '!'],
  ['', ',', ''],
  ['', '\n \t', 'x'],
]

function shaped(n: number, length: number): string {
  const [first, repeated, last] = SHAPES[n % SHAPES.length]!
  const room = Math.max(0, length - first.length - last.length)
  return (first + repeated.repeat(Math.floor(room / repeated.length)) + last).slice(0, length)
}

/** Fits into the head of a request. */
const LONGEST_IN_QUERY = 2500
/** Most families have a lower limit for stored texts: these lengths are processed in full. */
const INNER_LIMITS = [255, 2000, 65_000]
/** CPU time of this thread: parsing the largest body alone takes a third of it. */
const LONGEST_STALL_MS = 1000
const LONGEST_STALL_OF_SHORT_MS = 333
const SHORT = 65_000

function lengthsFor({ method }: Endpoint, most: number): number[] {
  if (method === 'GET' || method === 'DELETE') return [Math.min(most, LONGEST_IN_QUERY)]
  return [most, ...INNER_LIMITS.filter((length) => length < most).slice(-1)]
}

/** The input with a text at its position; missing parents are created. */
function withText(input: unknown, [step, ...rest]: readonly Step[], text: string): unknown {
  if (step === undefined) return text
  if (step === 0) return [withText(Array.isArray(input) ? input[0] : undefined, rest, text)]
  const record = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
  return { ...record, [step]: withText(record[step], rest, text) }
}

async function begin(): Promise<World> {
  const forge = await startForge()
  // Due background jobs must not be measured.
  await forge.stopWorker()
  return worldOf(forge)
}

const world = sharedWorld(begin)

describe('a text at its limit keeps nobody waiting', () => {
  let turn = 0
  /**
   * Long texts in every shape, others in the next shape: a short text cannot block for long. On PostgreSQL every text
   * has one shape: its indexes have a limit of length, and the code that reads shapes is the same on both stores.
   */
  const textsFor = (endpoint: Endpoint, most: number) => {
    const [longest, ...inner] = lengthsFor(endpoint, most)
    const texts = [longest!, ...inner].map((length) => shaped(turn++, length))
    if (inner.length === 0 || most <= LONGEST.text || testDatabaseUrl() !== undefined) return texts
    return [...texts, ...SHAPES.map((_, n) => shaped(n, inner[0]!))]
  }
  test.each(endpointsByFamily())('%s', async (_family, endpoints) => {
    const { forge, caller, asked } = await world()
    for (const endpoint of endpoints) {
      const { address, input, name } = await asked(endpoint)
      const ask = async (text: string, path: string, request: () => Promise<Record<string, unknown>>, where = path) => {
        const what = `${name} ${where} ${text.length} of ${JSON.stringify(text.slice(0, 12))}`
        const most = text.length <= SHORT ? LONGEST_STALL_OF_SHORT_MS : LONGEST_STALL_MS
        let shortest = Infinity
        // A garbage collection may happen at any time; slow code is slow again.
        for (let tries = 0; tries < 3 && shortest >= most; tries++) {
          // Resets rate limits.
          forge.clock.advance(2 * MINUTE)
          const given = await request()
          const { answer, stall } = await longestStall(() => call(caller, endpoint.method, path, given))
          expect(answer.status, what).toBeLessThan(500)
          shortest = Math.min(shortest, stall)
        }
        expect(shortest, what).toBeLessThan(most)
      }
      const own = inputOf(endpoint).filter(({ at }) => !endpoint.path.includes(`:${at[0]}`))
      for (const { at, most } of own) {
        for (const text of textsFor(endpoint, most)) {
          const request = async () => withText(await input(), at, text) as Record<string, unknown>
          await ask(text, address, request, at.join('.'))
        }
      }
      if (endpoint.method === 'GET' && paramsOf(endpoint).length > 0) {
        const text = shaped(turn++, LONGEST_IN_QUERY)
        await ask(text, addressWith(endpoint, text), async () => ({}), 'in its path')
      }
    }
  })
})
