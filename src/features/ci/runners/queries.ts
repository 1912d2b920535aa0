import { sql } from 'kysely'
import { z } from 'zod'
import { policy, resource } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { bool, id, listOf, oneOf, text } from '../../../api/wire.ts'
import { after, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { badParameter } from '../../../errors.ts'
import { Guest, Master, Owner } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList, isWithin } from '../../../store/dialect.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { eachWayInto } from '../../identity/namespaces/grants.ts'
import { findGroupById, loadGroupSubject } from '../../groups/groups/queries.ts'
import { ONLINE_FOR, STALE_AFTER, presentRunnerDetails, type RunnerScopes } from './entity.ts'
import { RUNNER_STATUSES, RUNNER_TYPES, type Runner } from './model.ts'

export interface RunnerSubject {
  readonly runner: Runner
  readonly viewer: User | null
  /** Whether the viewer may manage the runner. Never true for shared runners, except for administrators. */
  readonly managed: boolean
  /** Whether the viewer manages the runner, or maintains a project that uses it. */
  readonly seen: boolean
}

const isShared = ({ runner }: RunnerSubject) => runner.runner_type === 'instance_type'

const runnerPolicy = policy<RunnerSubject>()({
  // oxlint-disable-next-line no-unused-vars -- the type of the subject is inferred from it
  read: (_: RunnerSubject) => true,
  view: (s) => isShared(s) || s.seen,
  inspect: (s) => s.seen,
  manage: (s) => s.managed,
})

export const findRunner = async ({ db }: App, runner_id: number): Promise<Runner | null> =>
  (await db.selectFrom('runners').selectAll().where('id', '=', runner_id).executeTakeFirst()) ?? null

export const runner = resource({
  name: 'Runner',
  params: z.object({ runner_id: id }),
  policy: runnerPolicy,
  async find(app, { runner_id }, viewer): Promise<RunnerSubject | null> {
    const found = await findRunner(app, runner_id)
    if (!found) return null
    const managed = await isManaged(app, found, viewer)
    return { runner: found, viewer, managed, seen: managed || (await isUsed(app, found, viewer)) }
  },
})

/** The texts for callers who have no right to a runner. */
const NO_ACCESS = '403 Forbidden - No access granted'
const unmanaged = (s: RunnerSubject) =>
  isShared(s) && !s.viewer?.admin ? '403 Forbidden - Runner is shared' : NO_ACCESS

export const viewing = { on: runner, allow: 'view', deniedWith: NO_ACCESS } as const
export const inspecting = { on: runner, allow: 'inspect', deniedWith: NO_ACCESS } as const
export const managing = { on: runner, allow: 'manage', deniedWith: unmanaged } as const

/** The maintainers of the owning project manage a project runner, even if other projects use it; see `isUsed`. */
export async function isManaged(app: App, { id, runner_type }: Runner, viewer: User | null): Promise<boolean> {
  if (viewer?.admin) return true
  if (!viewer || runner_type === 'instance_type') return false
  if (runner_type === 'project_type') {
    const owner = await app.db
      .selectFrom('runner_projects')
      .select('project_id')
      .where('runner_id', '=', id)
      .orderBy('place')
      .orderBy('project_id')
      .limit(1)
      .executeTakeFirst()
    if (!owner) return false
    const mine = await maintained(app.db, viewer).where('project_id', '=', owner.project_id).execute()
    return mine.length > 0
  }
  const of = await app.db.selectFrom('runner_groups').select('group_id').where('runner_id', '=', id).execute()
  for (const { group_id } of of) {
    const group = await findGroupById(app.db, group_id)
    if (group && (await loadGroupSubject(app, group, viewer)).level >= Owner) return true
  }
  return false
}

/**
 * Whether a project of the viewer uses the runner. The viewer maintains that project, and it may be another than the
 * owning project.
 */
async function isUsed({ db }: App, { id }: Runner, viewer: User | null): Promise<boolean> {
  if (!viewer) return false
  const mine = await maintained(db, viewer)
    .where('project_id', 'in', (eb) =>
      eb.selectFrom('runner_projects').select('project_id').where('runner_id', '=', id),
    )
    .limit(1)
    .execute()
  return mine.length > 0
}

const maintained = (db: Db, { id }: User) =>
  db
    .selectFrom('project_authorizations')
    .select('project_id')
    .where('user_id', '=', id)
    .where('access_level', '>=', Master)

const STATES = ['active', 'paused']
const SCOPES: readonly string[] = [...STATES, ...RUNNER_STATUSES, ...RUNNER_TYPES, 'specific', 'shared']

export const filterInput = z.object({
  scope: text.nullish(),
  type: z.enum(RUNNER_TYPES).nullish(),
  status: oneOf(...STATES, ...RUNNER_STATUSES).nullish(),
  paused: bool.nullish(),
  tag_list: listOf(text).nullish(),
  version_prefix: text.nullish(),
})
type Filter = z.infer<typeof filterInput>

/** The scope whose runners are listed. */
export type RunnerListScope =
  | { readonly all: true }
  | { readonly ofUser: number }
  | {
      readonly project: { readonly id: number; readonly namespace_id: number; readonly shared_runners_enabled: boolean }
    }
  | { readonly group: number }

export function listRunners(
  app: App,
  listScope: RunnerListScope,
  filter: Filter,
  page: PageRequest,
): Promise<Page<Runner>> {
  const { db, clock } = app
  let query = db.selectFrom('runners as r').selectAll('r')
  if ('ofUser' in listScope)
    query = query.where((eb) =>
      eb.or([
        eb.exists(
          eb
            .selectFrom('runner_projects as rp')
            .innerJoin('project_authorizations as a', 'a.project_id', 'rp.project_id')
            .select('rp.project_id')
            .whereRef('rp.runner_id', '=', 'r.id')
            .where('a.user_id', '=', listScope.ofUser)
            .where('a.access_level', '>=', Master),
        ),
        eb.exists(
          eb
            .selectFrom('runner_groups as rg')
            .select('rg.group_id')
            .whereRef('rg.runner_id', '=', 'r.id')
            .where(sql<boolean>`rg.group_id in (${groupsOwnedBy(listScope.ofUser)})`),
        ),
      ]),
    )
  if ('project' in listScope)
    query = query.where((eb) =>
      eb.or([
        eb.exists(
          eb
            .selectFrom('runner_projects as rp')
            .select('rp.project_id')
            .whereRef('rp.runner_id', '=', 'r.id')
            .where('rp.project_id', '=', listScope.project.id),
        ),
        eb.exists(
          eb
            .selectFrom('runner_groups as rg')
            .innerJoin('namespace_ancestors as a', 'a.ancestor_id', 'rg.group_id')
            .select('rg.group_id')
            .whereRef('rg.runner_id', '=', 'r.id')
            .where('a.namespace_id', '=', listScope.project.namespace_id),
        ),
        ...(listScope.project.shared_runners_enabled ? [eb('r.runner_type', '=', 'instance_type')] : []),
      ]),
    )
  if ('group' in listScope)
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom('runner_groups as rg')
          .innerJoin('namespace_ancestors as a', 'a.ancestor_id', 'rg.group_id')
          .select('rg.group_id')
          .whereRef('rg.runner_id', '=', 'r.id')
          .where('a.namespace_id', '=', listScope.group),
      ),
    )
  const { scope, type, status, paused, tag_list, version_prefix } = filter
  if (scope && !SCOPES.includes(scope)) throw badParameter('Scope contains invalid value')
  const silentFor = (ms: number) => after(clock, -ms)
  for (const one of [scope, status]) {
    if (one === 'active' || one === 'paused') query = query.where('r.active', '=', one === 'active')
    if (one === 'online') query = query.where('r.contacted_at', '>=', silentFor(ONLINE_FOR))
    if (one === 'offline') query = query.where('r.contacted_at', '<', silentFor(ONLINE_FOR))
    if (one === 'never_contacted') query = query.where('r.contacted_at', 'is', null)
    if (one === 'stale')
      query = query
        .where('r.created_at', '<', silentFor(STALE_AFTER))
        .where((eb) => eb.or([eb('r.contacted_at', 'is', null), eb('r.contacted_at', '<', silentFor(STALE_AFTER))]))
    if (one === 'shared') query = query.where('r.runner_type', '=', 'instance_type')
    if (RUNNER_TYPES.some((kind) => kind === one))
      query = query.where('r.runner_type', '=', one as Runner['runner_type'])
    if (one === 'specific') query = query.where('r.runner_type', '!=', 'instance_type')
  }
  if (type) query = query.where('r.runner_type', '=', type)
  if (paused !== null && paused !== undefined) query = query.where('r.active', '=', !paused)
  for (const tag of tag_list ?? []) query = query.where(isWithin(db, 'r.tags', JSON.stringify(tag)))
  if (version_prefix)
    query = query.where(sql<boolean>`substr(r.version_name, 1, ${sql.lit(version_prefix.length)}) = ${version_prefix}`)
  return pageOfQuery(query.orderBy('r.id', 'desc'), page)
}

const groupsOwnedBy = (user: number) =>
  eachWayInto(
    ({ from, level }) => sql<number>`select a.namespace_id from ${from}
      where m.user_id = ${user} and ${level} >= ${sql.lit(Owner)}`,
  )

/** The projects and groups of the runner that the viewer may see. */
async function scopesOfRunner({ db }: App, { id }: Runner, viewer: User | null): Promise<RunnerScopes> {
  const projects = await db
    .selectFrom('runner_projects as rp')
    .innerJoin('projects as p', 'p.id', 'rp.project_id')
    .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
    .leftJoin('project_authorizations as a', (join) =>
      join.onRef('a.project_id', '=', 'p.id').on('a.user_id', '=', viewer?.id ?? 0),
    )
    .select(['p.id', 'p.name', 'p.path', 'n.full_name', 'n.full_path'])
    .where('rp.runner_id', '=', id)
    .where('p.deleting', '=', false)
    .$if(!viewer?.admin, (query) => query.where('a.access_level', '>=', Guest))
    .orderBy('p.id')
    .limit(100)
    .execute()
  const groups = await db
    .selectFrom('runner_groups as rg')
    .innerJoin('namespaces as n', 'n.id', 'rg.group_id')
    .select(['n.id', 'n.name', 'n.full_path'])
    .where('rg.runner_id', '=', id)
    .where('n.deleting', '=', false)
    .execute()
  return { projects, groups }
}

export async function presentDetailsFor(app: App, one: Runner, viewer: User | null) {
  return presentRunnerDetails(one, await scopesOfRunner(app, one, viewer), { now: timestamp(app.clock), url: app.url })
}

/** The project paths that the list of a runner's jobs shows. */
export async function projectPathsOf({ db }: App, jobs: readonly { readonly project_id: number }[]) {
  const ids = idList(db, [...new Set(jobs.map(({ project_id }) => project_id))])
  const rows = await db
    .selectFrom('projects as p')
    .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
    .select(['p.id', 'p.name', 'p.path', 'n.full_path'])
    .where(inIdList(db, 'p.id', ids))
    .execute()
  return new Map(
    rows.map(({ id, name, path, full_path }) => [id, { id, name, path, path_with_namespace: `${full_path}/${path}` }]),
  )
}

export async function hasSeveralProjects(db: Db, runner: number): Promise<boolean> {
  const query = db.selectFrom('runner_projects').select('project_id').where('runner_id', '=', runner).limit(2)
  return (await query.execute()).length > 1
}

/** The managers of a runner, newest first. */
export const listManagersOf = (db: Db, runner: number, page: PageRequest) =>
  pageOfQuery(db.selectFrom('runner_managers').selectAll().where('runner_id', '=', runner).orderBy('id', 'desc'), page)
