/** The viewer's groups. */
import type { Listed, Records } from '../../../api.ts'
import { Empty, Pages } from '../../../components/lists.tsx'
import { GroupRows } from '../../../components/listings.tsx'
import { Finder } from '../../../components/settings.tsx'
import { listPage } from '../../../fields.ts'
import { page as declare } from '../../../page.ts'

interface Data {
  groups: Listed<Records['Group'][]>
}

export const page = declare<Data>({
  signedIn: true,
  load: ({ api, query }) => ({
    groups: api.list('/groups', {
      search: query.get('search') ?? undefined,
      min_access_level: 10,
      order_by: 'name',
      ...listPage(query),
    }),
  }),
  title: () => 'My groups',
  View: ({ groups }) => (
    <>
      <div class="head">
        <h1>My groups</h1>
        <a class="button" data-kind="main" href="/groups/new">
          New group
        </a>
      </div>
      <Finder label="Search groups" />
      {groups.items.length === 0 ? (
        <Empty title="No groups yet">
          <p>
            <a href="/groups/new">Create a group</a> to share members, labels and milestones between projects.
          </p>
        </Empty>
      ) : (
        <GroupRows groups={groups.items} />
      )}
      <Pages of={groups} />
    </>
  ),
})
