/** The home page of a group: its subgroups and projects, and its members. */
import type { Listed, Records } from '../../api.ts'
import { Avatar } from '../../components/Avatar.tsx'
import { ActButton } from '../../components/Form.tsx'
import { Empty, Pages } from '../../components/lists.tsx'
import { GroupRows, ProjectRows } from '../../components/listings.tsx'
import { Finder, SortChoice } from '../../components/settings.tsx'
import { listPage } from '../../fields.ts'
import { belowGroup, groupFrame, type InGroup } from '../../layout/group.tsx'
import { page as declare } from '../../page.ts'
import { PROJECT_ORDERS, orderOf } from '../../components/orders.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/groups.ts'

interface Data {
  subgroups: Records['Group'][]
  projects: Listed<Records['Project'][]>
  members: number | null
}

export const page = declare<Data, InGroup>({
  frame: groupFrame,
  load({ api, params, query }) {
    const id = params.id!
    const search = query.get('search') ?? undefined
    return {
      subgroups: api.maybe('/groups/{id}/subgroups', { id, search, per_page: 100 }).then((all) => all ?? []),
      projects: api.list('/groups/{id}/projects', { id, search, ...orderOf(query), ...listPage(query, 20) }),
      members: api.list('/groups/{id}/members/all', { id, per_page: 1 }).then(
        ({ total }) => total,
        () => null,
      ),
    }
  },
  title: () => '',
  description: ({ group }) => group.description,
  View: ({ group, groupLevel, subgroups, projects, members, me, query }) => (
    <>
      <div class="head">
        <div class="row">
          <Avatar of={group} size={48} />
          <div>
            <h1>{group.name}</h1>
            {group.description && <p class="quiet">{group.description}</p>}
          </div>
        </div>
        <div class="row">
          {members !== null && <a href={belowGroup(group, 'group_members')}>{t.members(members)}</a>}
          {me && !groupLevel && group.request_access_enabled && <ActButton action="ask">{t.requestAccess}</ActButton>}
          {group.can.createSubgroups && (
            <a class="button" href={`/groups/new?parent=${group.id}`}>
              {t.newSubgroup}
            </a>
          )}
          {group.can.createProjects && (
            <a class="button" data-kind="main" href={`/projects/new?namespace=${group.id}`}>
              {common.newProject}
            </a>
          )}
        </div>
      </div>
      <Finder label={t.searchProjectsAndSubgroups}>
        <SortChoice options={PROJECT_ORDERS} />
      </Finder>
      {subgroups.length > 0 && (
        <>
          <h2>{t.subgroups}</h2>
          <GroupRows groups={subgroups} />
        </>
      )}
      <h2>{common.projects}</h2>
      {projects.items.length > 0 ? (
        <>
          <ProjectRows projects={projects.items} />
          <Pages of={projects} />
        </>
      ) : (
        <Empty title={query.get('search') ? common.noResults : t.noProjectsYet}>
          {group.can.createProjects && (
            <p>
              <a href={`/projects/new?namespace=${group.id}`}>{t.createProject}</a>
            </p>
          )}
        </Empty>
      )}
    </>
  ),
  actions: {
    async ask({ api, params }) {
      await api.post('/groups/{id}/access_requests', { id: params.id! })
    },
  },
})
