/**
 * Reads everything that project records depend on, and the viewer's access to each, in one query: the versions of the
 * shown rows, and the values that have no version. All other data can be cached while these stay the same.
 */
import { sql } from 'kysely'
import type { User } from '../../../context.ts'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { noticeLoose } from '../../../store/counts.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList, isSqlite, jsonList, jsonObject } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'

interface Filter {
  /** 0 for anonymous visitors. */
  viewer: number
  id?: number
  ids?: string
  namespace?: string
  path?: string
  /** Projects in the bin too. */
  binned_too?: true
}

const versionKeys = hotQuery((db, p: Filter, given) => {
  const share = jsonObject(db, {
    group_id: 's.group_id',
    group_access: 's.group_access',
    expires_at: 's.expires_at',
    name: 'g.name',
    full_path: 'g.full_path',
    visibility: 'g.visibility',
  })
  const shares = sql`select ${jsonList(db, share, 's.id')} from project_shares s
    join namespaces g on g.id = s.group_id and not g.deleting where s.project_id = projects.id`
  /** A member without a setting has the value 3, the global default. */
  const notified = (member: 'here' | 'above', source: 'project_id' | 'group_id') =>
    sql<number | null>`case when ${sql.ref(`${member}.id`)} is not null then coalesce((select n.level
      from notification_settings n where n.user_id = ${sql.ref(`${member}.user_id`)}
      and ${sql.ref(`n.${source}`)} = ${sql.ref(`${member}.${source}`)}), 3) end`
  // Most projects have no shares, and the check is cheaper than building an empty list.
  const sharesIfAny = sql<string | null>`case when exists (select 1 from project_shares s
    where s.project_id = projects.id) then (${shares}) end`
  const openIssues = sql`from issues_facets f
    where f.project_id = projects.id and f.state = 'opened' and f.confidential = false`
  return db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .leftJoin('users as owners', 'owners.id', 'namespaces.owner_id')
    .leftJoin('project_authorizations as mine', (join) =>
      join.onRef('mine.project_id', '=', 'projects.id').on('mine.user_id', '=', p.viewer),
    )
    .leftJoin('members as here', (join) =>
      join.onRef('here.project_id', '=', 'projects.id').on('here.user_id', '=', p.viewer),
    )
    .leftJoin('members as above', (join) =>
      join.onRef('above.group_id', '=', 'projects.namespace_id').on('above.user_id', '=', p.viewer),
    )
    .leftJoin('projects as sources', (join) =>
      join.onRef('sources.id', '=', 'projects.forked_from_id').on('sources.deleting', '=', false),
    )
    .leftJoin('namespaces as source_namespaces', 'source_namespaces.id', 'sources.namespace_id')
    .leftJoin('users as source_owners', 'source_owners.id', 'source_namespaces.owner_id')
    .leftJoin('project_authorizations as of_source', (join) =>
      join.onRef('of_source.project_id', '=', 'sources.id').on('of_source.user_id', '=', p.viewer),
    )
    .select([
      'projects.id',
      'projects.version',
      'projects.deleting',
      'namespaces.id as namespace_id',
      'namespaces.version as namespace_version',
      'owners.id as owner_id',
      'owners.version as owner_version',
      'mine.access_level',
      'here.access_level as project_access',
      'above.access_level as group_access',
      'sources.id as source_id',
      'sources.version as source_version',
      'sources.visibility as source_visibility',
      'source_namespaces.id as source_namespace_id',
      'source_namespaces.version as source_namespace_version',
      'source_owners.id as source_owner_id',
      'source_owners.version as source_owner_version',
      'of_source.access_level as source_access_level',
    ])
    .select([
      notified('here', 'project_id').as('project_notification'),
      notified('above', 'group_id').as('group_notification'),
      sharesIfAny.as('shares'),
      sql<number>`(select coalesce(sum(f.total), 0) ${openIssues})`.as('open_issues'),
      (isSqlite(db) ? sql<number>`0` : sql<number>`(select count(*) ${openIssues})`).as('open_issues_rows'),
    ])
    .$if(!given('binned_too'), (query) => query.where('projects.deleting', '=', false))
    .$if(given('binned_too'), (query) =>
      query.where(sql<boolean>`(not projects.deleting or projects.marked_for_deletion_at is not null)`),
    )
    .$if(given('id'), (query) => query.where('projects.id', '=', p.id!))
    .$if(given('ids'), (query) => query.where(inIdList(db, 'projects.id', p.ids!)))
    .$if(given('path'), (query) =>
      query.where(sql`lower(namespaces.full_path)`, '=', p.namespace!).where(sql`lower(projects.path)`, '=', p.path!),
    )
})

export type ProjectVersion = Awaited<ReturnType<typeof versionKeys>>[number]

/** Finds by id, or by path in any case. A number is always an id, never a path. */
export function findProjectVersion(
  db: Db,
  viewer: User | null,
  given: string,
  binned?: { binned_too: true },
): MaybePromise<ProjectVersion | null> {
  const values = valuesOf(given)
  if (!values) return null
  return andThen(versionKeys(db, { viewer: viewer?.id ?? 0, ...values, ...binned }), (found) => {
    noticeRows(db, found)
    return found[0] ?? null
  })
}

function noticeRows(db: Db, found: readonly ProjectVersion[]): void {
  let rows = 0
  for (const { open_issues_rows } of found) rows += open_issues_rows
  noticeLoose(db, 'issues_facets', rows)
}

function valuesOf(given: string): Omit<Filter, 'viewer'> | null {
  if (/^\d+$/.test(given)) return Number.isSafeInteger(Number(given)) ? { id: Number(given) } : null
  const [, namespace, path] = /^(.+)\/([^/]+)$/.exec(given.toLowerCase()) ?? []
  return namespace === undefined || path === undefined ? null : { namespace, path }
}

/** In the order of `projects`, without those that were deleted meanwhile. */
export function projectVersions(
  db: Db,
  viewer: User | null,
  projects: readonly { id: number }[],
  binned?: { binned_too: true } | false,
): MaybePromise<ProjectVersion[]> {
  if (projects.length === 0) return []
  const ids = projects.map(({ id }) => id)
  return andThen(versionKeys(db, { viewer: viewer?.id ?? 0, ids: idList(db, ids), ...binned }), (found) => {
    noticeRows(db, found)
    const byId = new Map(found.map((versionKey) => [versionKey.id, versionKey]))
    return ids.map((id) => byId.get(id)).filter((versionKey) => versionKey !== undefined)
  })
}
