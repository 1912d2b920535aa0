/** The merge requests of all projects of a group. */
import type { Listed } from '../../api.ts'
import { Filters, Requests, StateTabs, stateOf, filterOf, type MergeRequest } from '../../components/MergeRequests.tsx'
import { Empty } from '../../components/lists.tsx'
import { groupFrame, type InGroup } from '../../layout/group.tsx'
import { page as declare } from '../../page.ts'

interface Data {
  requests: Listed<MergeRequest[]>
}

export const page = declare<Data, InGroup>({
  frame: groupFrame,
  signedIn: true,
  load: ({ api, params, query }) => ({
    requests: api.list('/groups/{id}/merge_requests', { id: params.id!, state: stateOf(query), ...filterOf(query) }),
  }),
  title: () => 'Merge requests',
  View: ({ requests }) => (
    <>
      <h1>Merge requests</h1>
      <StateTabs />
      <Filters />
      <Requests
        of={requests}
        isFromMany
        empty={
          <Empty title="No merge requests">
            <p>Merge requests from all projects in this group appear here.</p>
          </Empty>
        }
      />
    </>
  ),
})
