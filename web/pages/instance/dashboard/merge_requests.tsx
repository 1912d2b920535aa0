/** Merge requests that wait for the viewer, and their own. */
import type { Listed } from '../../../api.ts'
import {
  Filters,
  Requests,
  StateTabs,
  stateOf,
  filterOf,
  type MergeRequest,
} from '../../../components/MergeRequests.tsx'
import { Empty, Tabs } from '../../../components/lists.tsx'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'

const SCOPES = [
  ['reviews_for_me', 'Review requests', 'No reviews requested'],
  ['assigned_to_me', 'Assigned to me', 'No merge requests assigned to you'],
  ['created_by_me', 'Created by me', 'You have no merge requests'],
] as const
type Scope = (typeof SCOPES)[number][0]

interface Data {
  requests: Listed<MergeRequest[]>
  counts: Record<Scope, number | null>
}

const scopeOf = (query: URLSearchParams) => SCOPES.find(([scope]) => scope === query.get('scope')) ?? SCOPES[0]

export const page = declare<Data>({
  signedIn: true,
  load({ api, query }) {
    const count = async (scope: Scope) => [
      scope,
      (await api.list('/merge_requests', { scope, state: 'opened', per_page: 1 })).total,
    ]
    return {
      requests: api.list('/merge_requests', { scope: scopeOf(query)[0], state: stateOf(query), ...filterOf(query) }),
      counts: Promise.all(SCOPES.map(([scope]) => count(scope))).then(
        (pairs) => Object.fromEntries(pairs) as Data['counts'],
      ),
    }
  },
  title: () => 'My merge requests',
  live: () => ({
    path: '/user/live',
    events: ['created', 'updated', 'closed', 'reopened', 'merged', 'approved'].map((act) => `merge_request.${act}`),
  }),
  View: ({ requests, counts, query, address }) => {
    const current = scopeOf(query)
    return (
      <>
        <h1>Merge requests</h1>
        <Tabs
          label="Filter"
          tabs={SCOPES.map(([scope, text]) => ({
            text,
            href: withQuery(address, { scope }),
            count: counts[scope],
            isCurrent: scope === current[0],
          }))}
        />
        <StateTabs />
        <Filters />
        <Requests
          of={requests}
          isFromMany
          empty={
            <Empty title={current[2]}>
              <p>Merge requests that you review, are assigned to or created appear here.</p>
            </Empty>
          }
        />
      </>
    )
  },
})
