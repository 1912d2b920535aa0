/** What lists of branches take beyond pages by number. */
import { API } from '../../../api/router.ts'
import type { App } from '../../../context.ts'
import { badParameter } from '../../../errors.ts'
import { finder, patternFault } from '../../../lib/patterns.ts'
import type { Project } from '../../projects/projects/queries.ts'

const LONGEST_REGEX = 255

export async function regexFilter(regex: string): Promise<(name: string) => boolean> {
  if (regex.length > LONGEST_REGEX || (await patternFault(regex)) !== null) throw badParameter('regex is invalid')
  return finder(regex)
}

/** Pages that begin behind a name: each leads to the next only, and none knows how many there are. */
export function nextLink(
  app: App,
  { id }: Project,
  asked: Record<string, string | number | null | undefined>,
  last: string | null,
): Record<string, string> {
  if (last === null) return {}
  const wish = { ...asked, pagination: 'keyset', page_token: last }
  const given = Object.entries(wish).flatMap(([name, value]): [string, string][] =>
    value ? [[name, String(value)]] : [],
  )
  const address = `${app.url}${API}/projects/${id}/repository/branches`
  return { Link: `<${address}?${new URLSearchParams(given)}>; rel="next"` }
}
