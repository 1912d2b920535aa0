/**
 * Pages whose texts are too large to be read at once: they are read and written in parts. The page is complete and has
 * the same headers, but needs less memory and blocks other work for a shorter time.
 */
import { PageTooLarge, type Page } from '../store/pages.ts'
import { Json } from './json.ts'
import type { PageRequest } from './pages.ts'

export class LongPage {
  readonly total: number
  readonly more: boolean
  readonly items: AsyncIterable<unknown>

  constructor({ total, more = false }: Pick<Page<unknown>, 'total' | 'more'>, items: AsyncIterable<unknown>) {
    this.total = total
    this.more = more
    this.items = items
  }
}

type Read = (page: PageRequest) => Promise<unknown>

/** The result of `read`, or a long page made of parts. */
export async function readPage(page: PageRequest, read: Read): Promise<unknown> {
  try {
    return await read(page)
  } catch (error) {
    if (!(error instanceof PageTooLarge)) throw error
  }
  const parts = partsOf(page, read)
  const first = (await parts.next()).value as unknown
  // Pages of keyset pagination have a link to the record after the last one, so a shorter page is complete.
  if (!isPage(first)) return first
  return new LongPage(first, itemsOf(first, parts))
}

const isPage = (result: unknown): result is Page<unknown> =>
  typeof result === 'object' && result !== null && 'items' in result

/** Each part is as large as can be read at once. */
async function* partsOf(page: PageRequest, read: Read): AsyncGenerator<unknown, unknown> {
  const end = page.offset + page.limit
  let size = page.limit
  for (let { offset } = page; offset < end;) {
    const limit = Math.min(size, end - offset)
    let part: unknown
    try {
      part = await read({ ...page, limit, offset })
    } catch (error) {
      if (!(error instanceof PageTooLarge) || limit === 1) throw error
      size = Math.ceil(limit / 2)
      continue
    }
    yield part
    offset += limit
    size = 2 * limit
    if (isPage(part) && !part.more && offset >= part.total) return
  }
}

async function* itemsOf(first: Page<unknown>, rest: AsyncGenerator<unknown>): AsyncGenerator<unknown> {
  yield* first.items
  for await (const part of rest) yield* (part as Page<unknown>).items
}

/** The maximum number of characters on an HTML page. */
const MOST_SHOWN = 2 * 1024 * 1024
const LONGEST_SHOWN = 10_000
const LEAST_SHOWN = 200

/** For our own pages: long texts are cut, because nobody reads that much in a list. */
export async function shortened({ total, more, items }: LongPage): Promise<Page<unknown>> {
  const shown: unknown[] = []
  let left = MOST_SHOWN
  const cut = (_name: string, value: unknown) => {
    if (typeof value !== 'string') return value
    const most = left > 0 ? LONGEST_SHOWN : LEAST_SHOWN
    left -= Math.min(value.length, most)
    return value.length > most ? `${value.slice(0, most)}…` : value
  }
  for await (const item of items) {
    const record = item instanceof Json ? (item.value as unknown) : item
    shown.push(JSON.parse(JSON.stringify(record, cut)))
  }
  return { total, more, items: shown }
}
