/** Groups with everything their records show, in a fixed number of queries. */
import { sql } from 'kysely'
import { Json } from '../../../api/json.ts'
import type { App, User } from '../../../context.ts'
import { Guest, type Visibility } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery, type IsGiven } from '../../../store/hot.ts'
import { levelInGroup, openVisibilities } from '../../access/authorizations/queries.ts'
import { presentProjects } from '../../projects/projects/load.ts'
import { presentGroupDetails, presentShareOfGroup, type GroupDetails, type Sizes } from './entity.ts'
import type { Group } from './queries.ts'

const MOST_PROJECTS = 100

interface Visible {
  group: number
  /** The id of the viewer; absent for administrators, who see everything; 0 for visitors. */
  seen_by?: number
  internal_too?: true
}

const projectsShown = (db: Db, w: Visible, given: IsGiven<Visible>) =>
  db
    .selectFrom('projects')
    .selectAll('projects')
    .where('projects.deleting', '=', false)
    .$if(given('seen_by'), (query) =>
      query.where(
        sql<boolean>`(projects.visibility in ${sql.raw(given('internal_too') ? "('public', 'internal')" : "('public')")}
          or exists (select 1 from project_authorizations mine
            where mine.user_id = ${w.seen_by} and mine.project_id = projects.id))`,
      ),
    )
    .orderBy('projects.id', 'desc')
    .limit(MOST_PROJECTS)

const ownProjects = hotQuery((db, w: Visible, given) =>
  projectsShown(db, w, given).where('projects.namespace_id', '=', w.group),
)

const sharedProjects = hotQuery((db, w: Visible, given) =>
  projectsShown(db, w, given)
    .innerJoin('project_shares', 'project_shares.project_id', 'projects.id')
    .where('project_shares.group_id', '=', w.group),
)

/** The whole record. It includes archived projects. */
export async function loadGroupDetails(
  app: App,
  viewer: User | null,
  group: Group,
  { projects = true }: { projects?: boolean } = {},
): Promise<Json<GroupDetails>> {
  const shown = {
    group: group.id,
    ...(!viewer?.admin && { seen_by: viewer?.id ?? 0 }),
    ...(openVisibilities(viewer).includes('internal') && { internal_too: true as const }),
  }
  return Json.object<GroupDetails>({
    ...presentGroupDetails(group, app.url),
    shared_with_groups: await sharesShown(app, viewer, group),
    ...(projects && {
      projects: Json.list(await presentProjects(app, viewer, await ownProjects(app.db, shown))),
      shared_projects: Json.list(await presentProjects(app, viewer, await sharedProjects(app.db, shown))),
    }),
  })
}

const sharesOf = hotQuery((db, p: { group: number }) =>
  db
    .selectFrom('group_shares as s')
    .innerJoin('namespaces as n', 'n.id', 's.shared_with_group_id')
    .select(['s.group_access', 's.expires_at', 'n.id', 'n.name', 'n.full_path', 'n.visibility'])
    .where('s.group_id', '=', p.group)
    .where('n.deleting', '=', false)
    .orderBy('s.id'),
)

/** Private groups that the group is shared with are visible only to members of the group. */
async function sharesShown(app: App, viewer: User | null, group: Group) {
  const shares = await sharesOf(app.db, { group: group.id })
  const isHidden = (visibility: Visibility) => !openVisibilities(viewer).includes(visibility)
  const isPerson = shares.some(({ visibility }) => isHidden(visibility))
    ? (await levelInGroup(app.db, viewer, group.id)) >= Guest
    : false
  return shares
    .filter(({ visibility }) => isPerson || !isHidden(visibility))
    .map(({ group_access, expires_at, ...shared_with }) =>
      presentShareOfGroup({ group_access, expires_at, shared_with }),
    )
}

const sizesIn = hotQuery((db, p: { groups: string }) =>
  db
    .selectFrom('projects')
    .select('namespace_id')
    .select(({ fn }) => [
      fn.sum<number>('repository_size').as('repository_size'),
      fn.sum<number>('lfs_objects_size').as('lfs_objects_size'),
    ])
    .select(
      sql<number>`sum((select coalesce(sum(f.total), 0) from ci_artifacts_facets f where f.project_id = projects.id))`.as(
        'job_artifacts_size',
      ),
    )
    .where(inIdList(db, 'namespace_id', p.groups))
    .where('deleting', '=', false)
    .groupBy('namespace_id'),
)

const NOTHING: Sizes = { repository_size: 0, lfs_objects_size: 0, job_artifacts_size: 0 }

/** The storage used by the projects directly in each of these groups. */
export async function sizesOf(db: Db, groups: readonly Group[]): Promise<(group: Group) => Sizes> {
  const ids = groups.map(({ id }) => id)
  const rows = await sizesIn(db, { groups: idList(db, ids) })
  const byId = new Map(rows.map((row) => [row.namespace_id, row]))
  return ({ id }) => byId.get(id) ?? NOTHING
}
