import type { Listed, Records } from '../../../api.ts'
import { DeletedGroups, DeletedTabs, asksForDeleted, deletedActions } from '../../../components/deleted.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { GroupRows } from '../../../components/listings.tsx'
import { Finder } from '../../../components/settings.tsx'
import { listPage } from '../../../fields.ts'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'

interface Data {
  groups: Listed<Records['Group'][]>
}

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api, query }) => ({
    groups: api.list('/groups', {
      search: query.get('search') ?? undefined,
      all_available: true,
      order_by: 'path',
      ...(asksForDeleted(query) && { only_pending_delete: true }),
      ...listPage(query),
    }),
  }),
  title: () => common.groups,
  actions: deletedActions,
  View: ({ groups, query }) => (
    <>
      <div class="head">
        <h1>{common.groups}</h1>
        <a class="button" href="/groups/new">
          {common.newGroup}
        </a>
      </div>
      <DeletedTabs label={common.groups} path="/admin/groups" />
      <Finder label={common.searchGroups}>
        {asksForDeleted(query) && <input type="hidden" name="deleted" value="true" />}
      </Finder>
      {groups.items.length === 0 ? (
        <Empty title={asksForDeleted(query) ? common.nothingToRestore : common.noGroups} />
      ) : asksForDeleted(query) ? (
        <DeletedGroups groups={groups.items} />
      ) : (
        <GroupRows
          groups={groups.items}
          aside={({ full_path }) => <a href={`/groups/${full_path}/-/edit`}>{common.settings}</a>}
        />
      )}
      <Pages of={groups} />
    </>
  ),
})
