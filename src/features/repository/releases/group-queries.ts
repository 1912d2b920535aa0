/** Releases of all projects in a group and below it. */
import { sql, type RawBuilder } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { App, User } from '../../../context.ts'
import { FeatureDisabled, FeatureEnabled, Guest, Reporter } from '../../../lib/levels.ts'
import { pageOfTexts } from '../../../store/pages.ts'
import { levelsOnProjects, openVisibilities } from '../../access/authorizations/queries.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { ReleaseRecord } from './entity.ts'
import type { Release } from './model.ts'
import { presentReleasesAt } from './queries.ts'

export function listGroupReleases(
  { db }: App,
  viewer: User | null,
  group: number,
  sort: 'asc' | 'desc',
  page: PageRequest,
): Promise<Page<Release>> {
  const query = db
    .selectFrom('releases')
    .innerJoin('projects as p', 'p.id', 'releases.project_id')
    .leftJoin('project_authorizations as mine', (join) =>
      join.onRef('mine.project_id', '=', 'p.id').on('mine.user_id', '=', viewer?.id ?? 0),
    )
    .selectAll('releases')
    .where('p.namespace_id', 'in', treeOf(db, group))
    .where('p.deleting', '=', false)
    .where(isDownloadable(viewer))
    .orderBy('releases.released_at', sort)
    .orderBy('releases.id', sort)
  return pageOfTexts(query, 'releases.description', page)
}

/** The same rule as `repositoryPolicy.download`, as an SQL condition. */
function isDownloadable(viewer: User | null): RawBuilder<boolean> {
  if (viewer?.admin) return sql`p.repository_access_level > ${sql.lit(FeatureDisabled)}`
  const open = sql.join(openVisibilities(viewer).map((one) => sql.lit(one)))
  return sql`(p.repository_access_level = ${sql.lit(FeatureEnabled)}
      or p.repository_access_level > ${sql.lit(FeatureDisabled)} and mine.access_level >= ${sql.lit(Guest)})
    and (mine.access_level >= ${sql.lit(Reporter)} or p.visibility in (${open}))`
}

export async function presentGroupReleases(
  app: App,
  viewer: User | null,
  releases: readonly Release[],
): Promise<ReleaseRecord[]> {
  if (releases.length === 0) return []
  const ids = [...new Set(releases.map(({ project_id }) => project_id))]
  const projects = await app.db.selectFrom('projects').selectAll().where('id', 'in', ids).execute()
  const homes = projects.map(({ namespace_id }) => namespace_id)
  const namespaces = await app.db
    .selectFrom('namespaces')
    .selectAll()
    .where('id', 'in', homes.length > 0 ? homes : [0])
    .execute()
  const byId = new Map(namespaces.map((one) => [one.id, one]))
  const levelOn = await levelsOnProjects(app.db, viewer, ids)
  const scopes = projects.flatMap((project) => {
    const namespace = byId.get(project.namespace_id)
    return namespace ? [{ project, namespace, dir: repositoryDir(app, project), level: levelOn(project.id) }] : []
  })
  return presentReleasesAt(app, scopes, releases)
}
