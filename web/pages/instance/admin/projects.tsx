import type { Listed, Records } from '../../../api.ts'
import { DeletedProjects, DeletedTabs, asksForDeleted, deletedActions } from '../../../components/deleted.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { PROJECT_ORDERS, orderOf } from '../../../components/orders.ts'
import { Visibility } from '../../../components/State.tsx'
import { Time } from '../../../components/Time.tsx'
import { Finder, SortChoice } from '../../../components/settings.tsx'
import { listPage } from '../../../fields.ts'
import { below } from '../../../layout/project.tsx'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'
import { sizeText } from '../../../refs.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/admin.ts'

interface Data {
  projects: Listed<Records['Project'][]>
}

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api, query }) => ({
    projects: api.list('/projects', {
      search: query.get('search') ?? undefined,
      statistics: true,
      ...orderOf(query),
      ...(asksForDeleted(query) && { only_pending_delete: true }),
      ...listPage(query),
    }),
  }),
  title: () => common.projects,
  actions: deletedActions,
  View: ({ projects, query }) => (
    <>
      <h1>{common.projects}</h1>
      <DeletedTabs label={common.projects} path="/admin/projects" />
      <Finder label={common.searchProjects}>
        {asksForDeleted(query) && <input type="hidden" name="deleted" value="true" />}
        <SortChoice options={PROJECT_ORDERS} />
      </Finder>
      {projects.items.length === 0 ? (
        <Empty title={asksForDeleted(query) ? common.nothingToRestore : common.noProjects} />
      ) : asksForDeleted(query) ? (
        <DeletedProjects projects={projects.items} />
      ) : (
        <Rows label={common.projects}>
          {projects.items.map((project) => (
            <Row
              key={project.id}
              title={
                <>
                  <a class="place-link" href={`/${project.path_with_namespace}`}>
                    {project.name_with_namespace}
                  </a>{' '}
                  <Visibility of={project.visibility} />{' '}
                  {project.archived && <span class="badge">{common.archived}</span>}
                </>
              }
              facts={rich(t.sizeCommitsUpdated(project.statistics?.commit_count ?? 0), {
                sizeText: sizeText(project.statistics?.storage_size ?? 0),
                time: <Time at={project.last_activity_at} />,
              })}
              aside={<a href={below(project, 'edit')}>{common.settings}</a>}
            />
          ))}
        </Rows>
      )}
      <Pages of={projects} />
    </>
  ),
})
