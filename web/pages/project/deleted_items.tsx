/** What was deleted in a project and can be restored. */
import type { Listed, Records } from '../../api.ts'
import { DeletedItems, deletedItemActions } from '../../components/DeletedItems.tsx'
import { listPage } from '../../fields.ts'
import { PlanningTabs } from '../../layout/planning.tsx'
import { projectFrame, type InProject } from '../../layout/project.tsx'
import { page as declare } from '../../page.ts'
import * as t from '../../texts/planning.ts'

interface Data {
  items: Listed<Records['DeletedItem'][]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: ({ api, params, query }) => ({
    items: api.list('/projects/{id}/deleted_items', { id: params.id!, ...listPage(query) }),
  }),
  title: () => t.deletedItems,
  actions: deletedItemActions('/projects/{id}'),
  View: ({ project, items }) => (
    <>
      <PlanningTabs project={project} at="deleted_items" />
      <DeletedItems items={items} />
    </>
  ),
})
