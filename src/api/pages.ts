/** Offset pagination: the request, the result, and the headers with links to other pages. */
import { z } from 'zod'
import type { Cut, Page } from '../store/pages.ts'
import { blankable, int } from './wire.ts'

export const PER_PAGE = 20
export const MOST_PER_PAGE = 100

export type { Page }

export interface PageRequest extends Cut {
  readonly page: number
}

/**
 * Marks an output as a paginated list: the endpoint then takes `page` and `per_page`, and its handler gets a `page`.
 */
export class PageOf<T extends z.ZodType = z.ZodType> {
  readonly item: T
  readonly most: number
  constructor(item: T, most: number) {
    this.item = item
    this.most = most
  }
}

/** `most` is the maximum per page, if it is lower than the general one. */
export const pageOf = <T extends z.ZodType>(item: T, { most = MOST_PER_PAGE } = {}) => new PageOf(item, most)

export const pageInput = z.object({ page: blankable(int), per_page: blankable(int) })

/** A number below one means the default, above the maximum means the maximum: only non-numbers are rejected. */
export function pageRequest({ page, per_page }: z.infer<typeof pageInput>, most = MOST_PER_PAGE): PageRequest {
  const number = page && page > 0 ? page : 1
  const limit = per_page && per_page > 0 ? Math.min(per_page, most) : PER_PAGE
  return { page: number, limit, offset: (number - 1) * limit }
}

const LONGEST_LINKED = 2000

/** A query without other parameters that links would have to repeat. */
const ONLY_PAGES = /^(?:(?:page|per_page)=\d*(?:&|$))*$/

const SET_OR_SECRET = new Set([
  'page',
  'per_page',
  'private_token',
  'access_token',
  'bearer_token',
  'job_token',
  'sudo',
])

export function pageHeaders(
  input: PageRequest,
  { total, more = false }: Pick<Page<unknown>, 'total' | 'more'>,
  address: string,
  query: string,
): Record<string, string> {
  const pages = Math.max(1, Math.ceil(total / input.limit))
  const previous = input.page > 1 && input.page <= pages ? input.page - 1 : null
  const next = input.page < pages ? input.page + 1 : null
  const given = ONLY_PAGES.test(query)
    ? []
    : [...new URLSearchParams(query)].filter(([name]) => !SET_OR_SECRET.has(name))
  const link = (page: number, rel: string) => {
    if (given.length === 0) return `<${address}?page=${page}&per_page=${input.limit}>; rel="${rel}"`
    const all = [...given, ['page', String(page)], ['per_page', String(input.limit)]] as [string, string][]
    const sorted = all.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    return `<${address}?${new URLSearchParams(sorted)}>; rel="${rel}"`
  }
  const links = [link(1, 'first'), ...(more ? [] : [link(pages, 'last')])]
  if (next) links.unshift(link(next, 'next'))
  if (previous) links.unshift(link(previous, 'prev'))
  return {
    ...(!more && { 'X-Total': String(total), 'X-Total-Pages': String(pages) }),
    'X-Per-Page': String(input.limit),
    'X-Page': String(input.page),
    'X-Next-Page': next ? String(next) : '',
    'X-Prev-Page': previous ? String(previous) : '',
    // Four copies of a long query would exceed the header size that clients accept.
    ...(query.length <= LONGEST_LINKED && { Link: links.join(', ') }),
  }
}
