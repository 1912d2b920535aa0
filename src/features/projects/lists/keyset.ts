/** Keyset pagination by the last id. The last page costs as much as the first, and there is no total. */
import { Answer } from '../../../api/endpoint.ts'
import { Json } from '../../../api/json.ts'
import type { PageRequest } from '../../../api/pages.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { nextProjects, type ProjectFilter } from './lists.ts'

interface KeysetOptions extends ProjectFilter {
  simple?: boolean | null | undefined
  statistics?: boolean | null | undefined
}

export async function answerByKeyset(
  app: App,
  viewer: User | null,
  input: KeysetOptions,
  page: PageRequest,
  present: (projects: { id: number }[]) => Promise<Json<unknown>[]>,
): Promise<Answer> {
  if (input.order_by && input.order_by !== 'id') {
    throw new Refusal('not_allowed', 'Keyset pagination is not yet available for this type of request')
  }
  const down = input.sort !== 'asc'
  // Reads one more than requested, which shows whether there is a next page.
  const items = await nextProjects(app, viewer, { ...input, sort: down ? 'desc' : 'asc' }, page.limit + 1)
  const shown = items.slice(0, page.limit)
  const last = shown.at(-1)
  const more = items.length > page.limit && last
  const headers = { 'X-Per-Page': String(page.limit), ...(more && { Link: nextLink(app, input, page, last, down) }) }
  return new Answer(200, Json.list(await present(shown)), headers)
}

function nextLink(app: App, input: KeysetOptions, page: PageRequest, last: { id: number }, down: boolean): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) {
    const plain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    if (plain) query.set(name, String(value))
  }
  for (const [key, value] of Object.entries(input.custom_attributes ?? {}))
    query.set(`custom_attributes[${key}]`, value)
  query.set('per_page', String(page.limit))
  query.set(down ? 'id_before' : 'id_after', String(last.id))
  query.sort()
  return `<${app.url}/api/v4/projects?${query}>; rel="next"`
}
