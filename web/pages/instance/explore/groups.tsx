import type { Listed, Records } from '../../../api.ts'
import { Empty, Pages } from '../../../components/lists.tsx'
import { GroupRows } from '../../../components/listings.tsx'
import { Finder } from '../../../components/settings.tsx'
import { listPage } from '../../../fields.ts'
import { page as declare } from '../../../page.ts'
import { Explore } from './Explore.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/home.ts'

interface Data {
  groups: Listed<Records['Group'][]>
}

export const page = declare<Data>({
  load: ({ api, query }) => ({
    groups: api.list('/groups', {
      search: query.get('search') ?? undefined,
      all_available: true,
      order_by: 'name',
      ...listPage(query),
    }),
  }),
  title: () => t.exploreGroups,
  View: ({ groups, me }) => (
    <Explore at="/explore/groups" me={me}>
      <Finder label={common.searchGroups} />
      <h2 class="spoken">{common.groups}</h2>
      {groups.items.length === 0 ? <Empty title={common.noGroups} /> : <GroupRows groups={groups.items} />}
      <Pages of={groups} />
    </Explore>
  ),
})
