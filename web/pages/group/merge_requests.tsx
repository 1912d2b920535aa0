/** The merge requests of all projects of a group. */
import type { Listed } from '../../api.ts'
import { Filters, Requests, StateTabs, stateOf, filterOf, type MergeRequest } from '../../components/MergeRequests.tsx'
import { Empty } from '../../components/lists.tsx'
import { groupFrame, type InGroup } from '../../layout/group.tsx'
import { page as declare } from '../../page.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/merge-requests.ts'

interface Data {
  requests: Listed<MergeRequest[]>
}

export const page = declare<Data, InGroup>({
  frame: groupFrame,
  signedIn: true,
  load: ({ api, params, query }) => ({
    requests: api.list('/groups/{id}/merge_requests', { id: params.id!, state: stateOf(query), ...filterOf(query) }),
  }),
  title: () => common.mergeRequests,
  View: ({ requests }) => (
    <>
      <h1>{common.mergeRequests}</h1>
      <StateTabs />
      <Filters />
      <Requests
        of={requests}
        isFromMany
        empty={
          <Empty title={t.noMergeRequests}>
            <p>{t.mergeRequestsFromAllProjects}</p>
          </Empty>
        }
      />
    </>
  ),
})
