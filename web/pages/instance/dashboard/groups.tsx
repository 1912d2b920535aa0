/** The viewer's groups. */
import type { Listed, Records } from '../../../api.ts'
import { Empty, Pages } from '../../../components/lists.tsx'
import { GroupRows } from '../../../components/listings.tsx'
import { Finder } from '../../../components/settings.tsx'
import { listPage } from '../../../fields.ts'
import { page as declare } from '../../../page.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/home.ts'

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
  title: () => t.myGroups,
  View: ({ groups }) => (
    <>
      <div class="head">
        <h1>{t.myGroups}</h1>
        <a class="button" data-kind="main" href="/groups/new">
          {common.newGroup}
        </a>
      </div>
      <Finder label={common.searchGroups} />
      {groups.items.length === 0 ? (
        <Empty title={t.noGroupsYet}>
          <p>{rich(t.createGroupToShareMembers, { link: (text) => <a href="/groups/new">{text}</a> })}</p>
        </Empty>
      ) : (
        <GroupRows groups={groups.items} />
      )}
      <Pages of={groups} />
    </>
  ),
})
