/** The viewer's projects, and starred ones. */
import type { Listed, Records } from '../../../api.ts'
import { Empty, Pages, Tabs } from '../../../components/lists.tsx'
import { PROJECT_ORDERS, orderOf } from '../../../components/orders.ts'
import { ProjectRows } from '../../../components/listings.tsx'
import { Finder, SortChoice } from '../../../components/settings.tsx'
import { listPage } from '../../../fields.ts'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/home.ts'

interface Data {
  projects: Listed<Records['Project'][]>
}

const VIEWS = [
  ['membership', t.member, { membership: true }],
  ['owned', t.owned, { owned: true }],
  ['starred', common.starred, { starred: true }],
] as const

const viewOf = (query: URLSearchParams) => VIEWS.find(([name]) => name === query.get('show')) ?? VIEWS[0]

export const page = declare<Data>({
  signedIn: true,
  load: ({ api, query }) => ({
    projects: api.list('/projects', {
      search: query.get('search') ?? undefined,
      ...viewOf(query)[2],
      ...orderOf(query),
      ...listPage(query),
    }),
  }),
  title: () => t.myProjects,
  View: ({ projects, query, address }) => (
    <>
      <div class="head">
        <h1>{t.myProjects}</h1>
        <a href="/dashboard/deleted">{common.deletedProjectsAndGroups}</a>
        <a class="button" data-kind="main" href="/projects/new">
          {common.newProject}
        </a>
      </div>
      <Tabs
        label={common.filter}
        tabs={VIEWS.map(([name, text]) => ({
          text,
          href: withQuery(address, { show: name }),
          isCurrent: viewOf(query)[0] === name,
        }))}
      />
      <div class="chapter">
        <Finder label={common.searchProjects}>
          <input type="hidden" name="show" value={viewOf(query)[0]} />
          <SortChoice options={PROJECT_ORDERS} />
        </Finder>
        {projects.items.length === 0 ? (
          <Empty title={t.noProjectsYet}>
            <p>
              {rich(t.createProjectOrExplorePublicProjects, {
                link: (text) => <a href="/projects/new">{text}</a>,
                link2: (text) => <a href="/explore">{text}</a>,
              })}
            </p>
          </Empty>
        ) : (
          <ProjectRows projects={projects.items} />
        )}
        <Pages of={projects} />
      </div>
    </>
  ),
})
