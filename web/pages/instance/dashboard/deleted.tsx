/** Deleted projects and groups that the viewer can restore. */
import { DeletedLists, deletedActions, type DeletedData } from '../../../components/deleted.tsx'
import { listPage } from '../../../fields.ts'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'

export const page = declare<DeletedData>({
  signedIn: true,
  load: ({ api, query }) => ({
    projects: api.list('/projects', { only_pending_delete: true, ...listPage(query) }),
    groups: api.list('/groups', { only_pending_delete: true, ...listPage(query) }),
  }),
  title: () => common.deletedProjectsAndGroups,
  View: ({ projects, groups }) => (
    <>
      <h1>{common.deletedProjectsAndGroups}</h1>
      <DeletedLists projects={projects} groups={groups} />
    </>
  ),
  actions: deletedActions,
})
