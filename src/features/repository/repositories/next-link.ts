import { API } from '../../../api/router.ts'
import type { App } from '../../../context.ts'
import type { RepositorySubject } from './policy.ts'

/** For pages that begin where another ended: each leads to the next only, and none knows how many there are. */
export function nextLink(
  app: App,
  { project }: RepositorySubject,
  list: 'branches' | 'tree',
  asked: Record<string, string | number | boolean | null | undefined>,
): Record<string, string> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(asked)) if (value != null && value !== '') query.set(name, `${value}`)
  return { Link: `<${app.url}${API}/projects/${project.id}/repository/${list}?${query}>; rel="next"` }
}
