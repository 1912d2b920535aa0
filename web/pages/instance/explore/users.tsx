import type { Listed, Records } from '../../../api.ts'
import { Empty, Pages } from '../../../components/lists.tsx'
import { UserRows } from '../../../components/listings.tsx'
import { Finder } from '../../../components/settings.tsx'
import { listPage } from '../../../fields.ts'
import { page as declare } from '../../../page.ts'
import { Explore } from './Explore.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/home.ts'

interface Data {
  users: Listed<Records['UserSummary'][]>
}

export const page = declare<Data>({
  signedIn: true,
  load: ({ api, query }) => ({
    users: api.list('/users', { search: query.get('search') ?? undefined, active: true, ...listPage(query) }),
  }),
  title: () => t.exploreUsers,
  View: ({ users, me }) => (
    <Explore at="/explore/users" me={me}>
      <Finder label={t.searchUsersByNameOrEmail} />
      <h2 class="spoken">{common.users}</h2>
      {users.items.length === 0 ? <Empty title={t.noMatchingUsers} /> : <UserRows users={users.items} />}
      <Pages of={users} />
    </Explore>
  ),
})
