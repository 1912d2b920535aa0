/**
 * Maps URLs to pages. The files are the table: `pages/project/issues/[iid].tsx` is `/group/project/-/issues/1`, with or
 * without the dash. Capitalised files are parts of pages.
 */
import type { Page } from './page.ts'

type Module = () => Promise<{ page: Page }>

const files = import.meta.glob<{ page: Page }>('./pages/**/[a-z[]*.tsx')

export type PageScope = 'instance' | 'project' | 'group' | 'user'

interface Route {
  readonly file: string
  readonly scope: PageScope
  readonly segments: readonly string[]
}

/** `issues/new` is tried before `issues/[iid]`, and that before `[...path]`. */
const openness = (segment: string) => (segment.startsWith('[...') ? 2 : segment.startsWith('[') ? 1 : 0)

function byOpenness(one: Route, other: Route): number {
  const length = Math.max(one.segments.length, other.segments.length)
  for (let n = 0; n < length; n++) {
    const difference = openness(one.segments[n] ?? '[') - openness(other.segments[n] ?? '[')
    if (difference !== 0) return difference
  }
  return 0
}

const routes: readonly Route[] = Object.keys(files)
  .map((file): Route => {
    const [scope, ...rest] = file
      .replace('./pages/', '')
      .replace(/\.tsx$/, '')
      .split('/')
    return { file, scope: scope as PageScope, segments: rest.filter((segment) => segment !== 'index') }
  })
  .toSorted(byOpenness)

export const loadPage = async (file: string): Promise<Page> => (await (files[file] as Module)()).page

export interface Match {
  readonly file: string
  readonly params: Record<string, string>
}

function paramsOf({ segments }: Route, given: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {}
  for (const [n, segment] of segments.entries()) {
    if (segment.startsWith('[...')) {
      params[segment.slice(4, -1)] = given.slice(n).join('/')
      return given.length > n ? params : null
    }
    const value = given[n]
    if (value === undefined) return null
    if (segment.startsWith('[')) {
      const name = segment.slice(1, -1)
      // A word in place of a number matches no page.
      if (name.endsWith('id') && !/^\d+$/.test(value)) return null
      params[name] = value
    } else if (segment !== value) return null
  }
  return given.length === segments.length ? params : null
}

export function pageOf(scope: PageScope, rest: readonly string[], id?: string): Match | null {
  for (const route of routes) {
    if (route.scope !== scope) continue
    const params = paramsOf(route, rest)
    if (params) return { file: route.file, params: id === undefined ? params : { id, ...params } }
  }
  return null
}

const firstWords = (scope: PageScope) =>
  new Set(routes.filter((route) => route.scope === scope).map(({ segments }) => segments[0]))
const projectWords = firstWords('project')
const groupWords = firstWords('group')

/** A page, or a path whose owner must be looked up. */
export type RouteMatch = { readonly page: Match } | { readonly path: string } | null

export function find(segments: readonly string[]): RouteMatch {
  const instance = pageOf('instance', segments)
  if (instance) return { page: instance }
  if (segments[0] === 'groups') return within('group', segments.slice(1), 1, groupWords)
  if (segments[0] === '-') return null
  const isBelow = segments.some((segment, n) => n > 1 && (segment === '-' || projectWords.has(segment)))
  const path = { path: segments.join('/') }
  if (!isBelow) return path
  // A project may have the same name as a page.
  return within('project', segments, 2, projectWords) ?? (segments.includes('-') ? null : path)
}

/** Where the path of an owner ends: at the dash, else before the first word that starts one of its pages. */
function within(
  scope: PageScope,
  segments: readonly string[],
  shortest: number,
  words: Set<string | undefined>,
): RouteMatch {
  const dash = segments.indexOf('-', shortest)
  const at = dash < 0 ? segments.findIndex((segment, n) => n >= shortest && words.has(segment)) : dash
  const end = at < 0 ? segments.length : at
  const match = pageOf(scope, segments.slice(dash < 0 ? end : end + 1), segments.slice(0, end).join('/'))
  return match && { page: match }
}
