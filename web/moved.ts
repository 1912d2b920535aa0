/** Redirects from URLs of older releases. Nothing is looked up: a missing record is missing at the new URL too. */
import { queryText } from './query.ts'

const encoded = (segments: readonly string[]) => segments.map(encodeURIComponent).join('/')

/** For pages below a project: by the first word, maps the rest of the path to the new path. */
type Move = (rest: readonly string[], project: string, query: URLSearchParams) => string | null

const to =
  (...segments: readonly string[]): Move =>
  () =>
    encoded(segments)

const api = (project: string, path: string, fields: Record<string, unknown> = {}) => {
  const query = queryText(fields)
  return `/api/v4/projects/${encodeURIComponent(project)}/${path}${query && `?${query}`}`
}

const atHead =
  (word: string): Move =>
  (rest) =>
    rest.length === 0 ? `${word}/HEAD` : null

const FORMAT = /\.(zip|tar\.gz|tgz|tar\.bz2|tbz2|tar)$/

/** Pages of settings that stand elsewhere. */
const SETTINGS: Readonly<Record<string, string>> = {
  general: 'edit',
  hooks: 'hooks',
  webhooks: 'hooks',
  members: 'project_members',
  operations: 'environments',
}

const MOVED: Readonly<Record<string, Move>> = {
  builds: (rest) => encoded(['jobs', ...rest]),
  jobs: ([id, raw], project) => (id && raw === 'raw' ? api(project, `jobs/${encodeURIComponent(id)}/trace`) : null),
  /** `archive/some/branch/name.zip` */
  archive(rest, project) {
    const format = FORMAT.exec(rest.at(-1) ?? '')?.[1]
    const sha = rest.slice(0, -1).join('/') || rest.at(-1)?.replace(FORMAT, '')
    return format ? api(project, `repository/archive.${format}`, { sha }) : null
  },
  repository([name = ''], project, query) {
    const format = FORMAT.exec(name)?.[1]
    return format ? api(project, `repository/archive.${format}`, { sha: query.get('ref') }) : null
  },
  merge_requests([iid = '', page], project) {
    const number = /^(\d+)\.(?:diff|patch)$/.exec(iid)?.[1]
    if (number) return api(project, `merge_requests/${number}/raw_diffs`)
    if (!/^\d+$/.test(iid)) return null
    if (page === 'changes') return `merge_requests/${iid}/diffs`
    return page === 'discussions' || page === 'builds' ? `merge_requests/${iid}` : null
  },
  commit([sha = '', page], project) {
    const [, id, format] = /^(.+)\.(diff|patch)$/.exec(sha) ?? []
    if (id && page === undefined) return api(project, `repository/commits/${encodeURIComponent(id)}/patch`, { format })
    return sha && /^(builds|pipelines)$/.test(page ?? '') ? encoded(['commit', sha]) : null
  },
  pipelines: ([id, page]) => (id && /^(builds|jobs|failures)$/.test(page ?? '') ? encoded(['pipelines', id]) : null),
  tree: atHead('tree'),
  commits: atHead('commits'),
  network: atHead('network'),
  graphs(rest) {
    const ref = rest.at(-1) === 'charts' ? rest.slice(0, -1) : rest
    return encoded(['graphs', ...(ref.length > 0 ? ref : ['HEAD'])])
  },
  find_file: atHead('find_file'),
  contributors: to('graphs', 'HEAD'),
  files: (rest) => encoded(['find_file', ...(rest.length > 0 ? rest : ['HEAD'])]),
  wikis: (rest) => (rest.length === 0 ? 'wikis/home' : null),
  wiki: (rest) => encoded(['wikis', ...(rest.length > 0 ? rest : ['home'])]),
  team: to('project_members'),
  services: ([slug]) => encoded(['settings', 'integrations', ...(slug ? [slug] : [])]),
  settings: ([page = 'general']) => SETTINGS[page] ?? null,
  deploy_keys: to('settings', 'repository'),
  protected_branches: to('settings', 'repository'),
  protected_tags: to('settings', 'repository'),
  runners: to('settings', 'ci_cd'),
  variables: to('settings', 'ci_cd'),
  triggers: to('settings', 'ci_cd'),
}

const OF_INSTANCE: Readonly<Record<string, string>> = {
  'favicon.ico': '/-/assets/icon.svg',
  'users/terms': '/-/users/terms',
  dashboard: '/dashboard/projects',
  'dashboard/home': '/',
  'dashboard/projects/personal': '/dashboard/projects?show=owned',
  'dashboard/projects/starred': '/dashboard/projects?show=starred',
  'dashboard/merge_requests/following': '/dashboard/merge_requests',
  'dashboard/merge_requests/search': '/dashboard/merge_requests',
  'dashboard/snippets': '/-/snippets',
  'dashboard/work_items': '/dashboard/issues',
  'explore/projects': '/explore',
  'explore/snippets': '/-/snippets',
  public: '/explore',
  'profile/account': '/-/profile/password',
  'oauth/applications': '/-/profile/applications',
}

/** Pages of a user's own settings, in later releases below `/-/user_settings`. */
const USER_SETTINGS: Readonly<Record<string, string>> = {
  profile: '',
  authentication_log: '/active_sessions',
  identities: '/password',
  ssh_keys: '/keys',
}

const userSettings = (page: string) => `/-/profile${USER_SETTINGS[page] ?? `/${encodeURIComponent(page)}`}`

/** Null if the page has not moved. */
export function movedTo(segments: readonly string[], query: URLSearchParams): string | null {
  const [first = '', second] = segments
  const known = OF_INSTANCE[segments.join('/')]
  if (known) return known
  if (first === 'profile' || first === 'snippets') return `/-/${encoded(segments)}`
  if (first === 'u' && second && segments.length === 2) return `/${encodeURIComponent(second)}`
  if (first === '-' && second === 'user_settings') return userSettings(segments[2] ?? 'profile')
  const dash = segments.indexOf('-', 2)
  const at = dash < 0 ? segments.findIndex((word, n) => n > 1 && Object.hasOwn(MOVED, word)) : dash + 1
  const word = segments[at]
  if (at < 2 || word === undefined || !Object.hasOwn(MOVED, word)) return null
  const owner = segments.slice(0, dash < 0 ? at : dash)
  const target = MOVED[word]!(segments.slice(at + 1), owner.join('/'), query)
  if (target === null || target.startsWith('/')) return target
  const address = `/${encoded(owner)}/-/${target}`
  const isSame = address === `/${encoded(segments)}`
  return isSame ? null : query.size > 0 ? `${address}?${query}` : address
}

/** `raw/some/branch/path`: the part before the dash or the word, and the part after it. */
export function rawIn(segments: readonly string[]): { id: string; rest: string } | null {
  const at = segments.findIndex((word, n) => n > 1 && word === 'raw' && n < segments.length - 2)
  if (at < 0) return null
  const end = segments[at - 1] === '-' ? at - 1 : at
  return end < 2 ? null : { id: segments.slice(0, end).join('/'), rest: segments.slice(at + 1).join('/') }
}
