import type { Listed, Records } from '../../../api.ts'
import { Empty, Pages } from '../../../components/lists.tsx'
import { PROJECT_ORDERS, orderOf } from '../../../components/orders.ts'
import { ProjectRows } from '../../../components/listings.tsx'
import { Finder, SortChoice } from '../../../components/settings.tsx'
import { listPage } from '../../../fields.ts'
import { page as declare } from '../../../page.ts'
import { Explore } from './Explore.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/home.ts'

interface Data {
  projects: Listed<Records['Project'][]>
}

export const page = declare<Data>({
  load: ({ api, query }) => ({
    projects: api.list('/projects', {
      search: query.get('search') ?? undefined,
      topic: query.get('topic') ?? undefined,
      ...orderOf(query),
      ...listPage(query),
    }),
  }),
  title: () => t.exploreProjects,
  View: ({ projects, me }) => (
    <Explore at="/explore" me={me}>
      <Finder label={common.searchProjects}>
        <SortChoice options={PROJECT_ORDERS} />
      </Finder>
      <h2 class="spoken">{common.projects}</h2>
      {projects.items.length === 0 ? (
        <Empty title={common.noProjects}>
          {me ? (
            <p>
              <a href="/projects/new">{t.createProject}</a>
            </p>
          ) : (
            <p>{t.signInToSeeMoreProjects}</p>
          )}
        </Empty>
      ) : (
        <ProjectRows projects={projects.items} />
      )}
      <Pages of={projects} />
    </Explore>
  ),
})
