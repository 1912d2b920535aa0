/** What was deleted in a group and can be restored. */
import type { Listed, Records } from '../../api.ts'
import { DeletedItems, deletedItemActions } from '../../components/DeletedItems.tsx'
import { listPage } from '../../fields.ts'
import { groupFrame, type InGroup } from '../../layout/group.tsx'
import { GroupPlanningTabs } from '../../layout/planning.tsx'
import { page as declare } from '../../page.ts'
import * as t from '../../texts/planning.ts'

interface Data {
  items: Listed<Records['DeletedItem'][]>
}

export const page = declare<Data, InGroup>({
  frame: groupFrame,
  signedIn: true,
  load: ({ api, params, query }) => ({
    items: api.list('/groups/{id}/deleted_items', { id: params.id!, ...listPage(query) }),
  }),
  title: () => t.deletedItems,
  actions: deletedItemActions('/groups/{id}'),
  View: ({ group, items }) => (
    <>
      <GroupPlanningTabs group={group} at="deleted_items" />
      <DeletedItems items={items} />
    </>
  ),
})
