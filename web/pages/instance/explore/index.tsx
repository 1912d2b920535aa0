import type { Listed, Records } from '../../../api.ts'
import { Empty, Pages } from '../../../components/lists.tsx'
import { PROJECT_ORDERS, orderOf } from '../../../components/orders.ts'
import { ProjectRows } from '../../../components/listings.tsx'
import { Finder, SortChoice } from '../../../components/settings.tsx'
import { listPage } from '../../../fields.ts'
import { page as declare } from '../../../page.ts'
import { Explore } from './Explore.tsx'

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
  title: () => 'Explore projects',
  View: ({ projects, me }) => (
    <Explore at="/explore" me={me}>
      <Finder label="Search projects">
        <SortChoice options={PROJECT_ORDERS} />
      </Finder>
      <h2 class="spoken">Projects</h2>
      {projects.items.length === 0 ? (
        <Empty title="No projects">
          {me ? (
            <p>
              <a href="/projects/new">Create a project</a>
            </p>
          ) : (
            <p>Sign in to see more projects.</p>
          )}
        </Empty>
      ) : (
        <ProjectRows projects={projects.items} />
      )}
      <Pages of={projects} />
    </Explore>
  ),
})
