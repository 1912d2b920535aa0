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
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/home.ts'

const SCOPES = [
  ['reviews_for_me', t.reviewRequests, t.noReviewsRequested],
  ['assigned_to_me', t.assignedToMe, t.noMergeRequestsAssignedToYou],
  ['created_by_me', t.createdByMe, t.youHaveNoMergeRequests],
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
  title: () => common.myMergeRequests,
  live: () => ({
    path: '/user/live',
    events: ['created', 'updated', 'closed', 'reopened', 'merged', 'approved'].map((act) => `merge_request.${act}`),
  }),
  View: ({ requests, counts, query, address }) => {
    const current = scopeOf(query)
    return (
      <>
        <h1>{common.mergeRequests}</h1>
        <Tabs
          label={common.filter}
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
              <p>{t.mergeRequestsThatYouReview}</p>
            </Empty>
          }
        />
      </>
    )
  },
})
