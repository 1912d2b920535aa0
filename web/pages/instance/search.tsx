/** Search, over everything or in a project: `/search?search=words&scope=issues&project=group/name`. */
import type { Api, Listed, Records } from '../../api.ts'
import { Choice, Field } from '../../components/Form.tsx'
import { Empty, Pages, Tabs } from '../../components/lists.tsx'
import { page as declare } from '../../page.ts'
import { withQuery } from '../../query.ts'
import { Results, type SearchResult } from './Results.tsx'
import { rich } from '../../rich.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/home.ts'

const EVERYWHERE = [
  ['projects', common.projects],
  ['issues', common.issues],
  ['merge_requests', common.mergeRequests],
  ['milestones', common.milestones],
  ['snippet_titles', common.snippets],
  ['users', common.users],
] as const
const IN_PROJECT = [
  ['blobs', common.code],
  ['commits', common.commits],
  ['issues', common.issues],
  ['merge_requests', common.mergeRequests],
  ['milestones', common.milestones],
  ['notes', common.comments],
  ['wiki_blobs', common.wiki],
  ['users', common.users],
] as const

interface Data {
  scope: string
  found: Listed<SearchResult[]> | null
  projects: Records['Project'][]
}

const wordsIn = (query: URLSearchParams) => (query.get('search') ?? '').trim()
const projectIn = (query: URLSearchParams) => query.get('project') || null

function scopeIn(query: URLSearchParams): string {
  const scopes: readonly (readonly [string, string])[] = projectIn(query) ? IN_PROJECT : EVERYWHERE
  // The name in other forges.
  const scopeName = query.get('scope') === 'snippets' ? 'snippet_titles' : query.get('scope')
  return scopes.find(([scope]) => scope === scopeName)?.[0] ?? scopes[0]![0]
}

async function search(api: Api, query: URLSearchParams): Promise<Listed<SearchResult[]> | null> {
  const words = wordsIn(query)
  const id = projectIn(query)
  if (words === '') return null
  const input = { search: words, per_page: 20, page: Number(query.get('page')) || 1 }
  // The result type depends on the scope; the contract names one kind.
  const found = id
    ? api.list('/projects/{id}/search', { id, scope: scopeIn(query) as 'issues', ...input })
    : api.list('/search', { scope: scopeIn(query) as 'issues', ...input })
  return found as Promise<Listed<unknown>> as Promise<Listed<SearchResult[]>>
}

export const page = declare<Data>({
  load: ({ api, query, me }) => ({
    scope: scopeIn(query),
    found: me ? search(api, query) : null,
    projects: me ? api.get('/projects', { membership: true, order_by: 'last_activity_at', per_page: 50 }) : [],
  }),
  title: (_data, { query }) => (wordsIn(query) ? `${wordsIn(query)} - Search` : common.search),
  View: ({ scope, found, projects, query, address, me }) => {
    if (!me) return <ForVisitors query={query} address={address} />
    const project = projectIn(query)
    const options = projects.map((one) => [one.path_with_namespace, one.name_with_namespace] as const)
    const isListed = project === null || options.some(([path]) => path === project)
    return (
      <>
        <h1>{common.search}</h1>
        <form class="filters" action="/search" aria-label={t.advancedSearch}>
          <Field name="search" type="search" label={t.searchTerms} isQuiet value={wordsIn(query)} />
          <Choice
            name="project"
            label={common.project}
            isQuiet
            value={project ?? ''}
            options={[['', t.allProjects], ...(isListed ? [] : [[project, project] as const]), ...options]}
          />
          <button class="button">{common.search}</button>
        </form>
        <Tabs
          label={common.type}
          tabs={(project ? IN_PROJECT : EVERYWHERE).map(([one, text]) => ({
            text,
            href: withQuery(address, { scope: one }),
            isCurrent: one === scope,
            count: one === scope ? found?.total : null,
          }))}
        />
        {!found ? (
          <Empty title={t.enterSearchTerm}>
            <p>{t.selectProjectToSearchCode}</p>
          </Empty>
        ) : found.items.length === 0 ? (
          <Empty title={common.noResults}>
            <p>{t.tryOtherSearchTermsAnother}</p>
          </Empty>
        ) : (
          <>
            <Results scope={scope} found={found.items} project={project} />
            <Pages of={found} />
          </>
        )}
      </>
    )
  },
})

/** The search API requires a user; lists of projects and groups can be filtered by everybody. */
function ForVisitors({ query, address }: { query: URLSearchParams; address: string }) {
  const words = wordsIn(query)
  return (
    <>
      <h1>{common.search}</h1>
      <p>
        {rich(t.signInToSearchAll, {
          link: (text) => <a href={`/users/sign_in?return_to=${encodeURIComponent(address)}`}>{text}</a>,
        })}
      </p>
      <form class="filters" action="/explore" role="search" aria-label={t.publicProjects}>
        <Field name="search" type="search" label={t.nameContains} isQuiet value={words} />
        <button class="button" data-kind="main">
          {common.searchProjects}
        </button>
      </form>
      <p>
        <a href={withQuery('/explore/groups', { search: words || null })}>
          {words ? t.searchGroupsForWords(words) : t.browsePublicGroups}
        </a>
      </p>
    </>
  )
}
