import { API } from '../../../api/router.ts'
import type { App } from '../../../context.ts'
import type { RepositorySubject } from './policy.ts'

/** For keyset pagination: each page links only to the next one, and no page knows the total. */
export function nextLink(
  app: App,
  { project }: RepositorySubject,
  list: 'branches' | 'tree',
  params: Record<string, string | number | boolean | null | undefined>,
): Record<string, string> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) if (value != null && value !== '') query.set(name, `${value}`)
  return { Link: `<${app.url}${API}/projects/${project.id}/repository/${list}?${query}>; rel="next"` }
}
