/** Loads projects with everything that their records show, in a fixed number of queries. */
import { cachedRecords, type CachedRecordKey } from '../../../api/cached-records.ts'
import { Json } from '../../../api/json.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { Guest, Master, Owner, Reporter } from '../../../lib/levels.ts'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { noticeLoose } from '../../../store/counts.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { RowState } from '../../../store/versions.ts'
import { levelOf, openVisibilities } from '../../access/authorizations/queries.ts'
import { withAttributes, type AttributeOptions } from '../../identity/custom-attributes.ts'
import { userRows } from '../../identity/users/queries.ts'
import { deletersOf } from './deleters.ts'
import {
  presentProject,
  presentSimpleProject,
  type Addresses,
  type LoadedProject,
  type ProjectRecord,
  type RecordOptions,
  type Share,
  type SimpleProjectRecord,
} from './entity.ts'
import { namespaceRows, projectRows, type Project, type VersionedProject } from './queries.ts'
import { projectVersions, type ProjectVersion } from './versions.ts'

/** Only if the viewer may read the source. */
function showsSource(viewer: User | null, versionKey: ProjectVersion): boolean {
  const { source_visibility: visibility, source_access_level: authorized } = versionKey
  if (visibility === null) return false
  return openVisibilities(viewer).includes(visibility) || levelOf(viewer, authorized) >= Guest
}

/** Only members of the project see the names of private groups. */
function sharesShown(viewer: User | null, versionKey: ProjectVersion): Share[] {
  const shares = JSON.parse(versionKey.shares ?? '[]') as (Share & Pick<Project, 'visibility'>)[]
  const open = openVisibilities(viewer)
  const isPerson = levelOf(viewer, versionKey.access_level) >= Guest
  return shares.filter(({ visibility }) => isPerson || open.includes(visibility))
}

const state = (id: number | null, version: number | null): RowState[] =>
  id === null ? [] : [{ id, version: version! }]

const membership = (access_level: number | null, notification_level: number | null) =>
  access_level === null ? null : { access_level, notification_level: notification_level! }

/** A change of topics also changes the version of the project. */
const readTopics = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('project_topics')
    .select(['project_id', 'name'])
    .where(inIdList(db, 'project_id', p.ids))
    .orderBy('position'),
)

const topicsOf = (db: Db, ids: readonly number[]): MaybePromise<Map<number, string[]>> =>
  andThen(readTopics(db, { ids: idList(db, ids) }), (rows) => {
    const names = new Map<number, string[]>()
    for (const { project_id: id, name } of rows) names.set(id, [...(names.get(id) ?? []), name])
    return names
  })

/** In the order of the version keys. A project that was deleted since is undefined. */
async function load(
  db: Db,
  viewer: User | null,
  versionKeys: readonly ProjectVersion[],
): Promise<(LoadedProject | undefined)[]> {
  const forks = versionKeys.filter((versionKey) => showsSource(viewer, versionKey))
  const ids = [...versionKeys.map(({ id }) => id), ...forks.map((one) => one.source_id!)]
  const [projects, namespaces, users, topics] = await Promise.all([
    projectRows(db, [...versionKeys, ...forks.flatMap((one) => state(one.source_id, one.source_version))]),
    namespaceRows(db, [
      ...versionKeys.flatMap((one) => state(one.namespace_id, one.namespace_version)),
      ...forks.flatMap((one) => state(one.source_namespace_id, one.source_namespace_version)),
    ]),
    userRows(db, [
      ...versionKeys.flatMap((one) => state(one.owner_id, one.owner_version)),
      ...forks.flatMap((one) => state(one.source_owner_id, one.source_owner_version)),
    ]),
    topicsOf(db, ids),
  ])
  const locationOf = (id: number, namespaceId: number, ownerId: number | null) => {
    const project = projects.get(id)
    const namespace = namespaces.get(namespaceId)
    if (!project || !namespace) return undefined
    const owner = users.get(ownerId ?? 0) ?? null
    return { project, namespace, owner, topics: topics.get(id) ?? [] }
  }
  return versionKeys.map((versionKey) => {
    const placed = locationOf(versionKey.id, versionKey.namespace_id, versionKey.owner_id)
    if (!placed) return undefined
    const source = showsSource(viewer, versionKey)
      ? locationOf(versionKey.source_id!, versionKey.source_namespace_id!, versionKey.source_owner_id)
      : undefined
    return {
      ...placed,
      level: levelOf(viewer, versionKey.access_level),
      openIssues: versionKey.open_issues,
      shares: sharesShown(viewer, versionKey),
      source: source ?? null,
      memberOfProject: membership(versionKey.project_access, versionKey.project_notification),
      memberOfGroup: membership(versionKey.group_access, versionKey.group_notification),
    }
  })
}

export async function loadProjects(
  db: Db,
  viewer: User | null,
  projects: readonly { id: number }[],
): Promise<LoadedProject[]> {
  const loaded = await load(db, viewer, await projectVersions(db, viewer, projects))
  return loaded.filter((one) => one !== undefined)
}

export function addresses(app: App): Addresses {
  const { sshUrl, sshPort } = app.config
  if (sshUrl === '' || (sshUrl === null && sshPort === null)) return { url: app.url, ssh: null }
  const { hostname, port } = new URL(sshUrl ?? `ssh://${new URL(app.url).hostname}:${sshPort}`)
  const ssh = port === '' || port === '22' ? `git@${hostname}:` : `ssh://git@${hostname}:${port}/`
  return { url: app.url, ssh }
}

export interface PageRecordOptions extends AttributeOptions {
  simple?: boolean | null | undefined
  statistics?: boolean | null | undefined
  /** Records of projects in the bin too, for their owners. */
  binned?: boolean | undefined
}

/** The parts of a record that the viewer may see. */
interface Visible {
  simple: boolean
  statistics: { readonly artifactsSize: number } | undefined
  secrets: boolean
}

const artifactSizes = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('ci_artifacts_facets')
    .select((eb) => ['project_id', eb.fn.sum<number>('total').as('size'), eb.fn.countAll<number>().as('rows')])
    .where(inIdList(db, 'project_id', p.ids))
    .groupBy('project_id'),
)

async function artifactSizesOf(db: Db, versionKeys: readonly ProjectVersion[]): Promise<ReadonlyMap<number, number>> {
  const found = await artifactSizes(db, {
    ids: idList(
      db,
      versionKeys.map(({ id }) => id),
    ),
  })
  noticeLoose(
    db,
    'ci_artifacts_facets',
    found.reduce((sum, { rows }) => sum + rows, 0),
  )
  return new Map(found.map(({ project_id, size }) => [project_id, size]))
}

/**
 * Anonymous visitors get the short record. Secrets are for administrators of the project, in answers that may contain
 * them.
 */
function shownTo(
  viewer: User | null,
  versionKey: ProjectVersion,
  input: { simple?: boolean | null | undefined; secrets?: boolean },
  artifactSizes: ReadonlyMap<number, number> | null,
): Visible {
  const level = levelOf(viewer, versionKey.access_level)
  return {
    simple: !viewer || Boolean(input.simple),
    statistics:
      artifactSizes && level >= Reporter ? { artifactsSize: artifactSizes.get(versionKey.id) ?? 0 } : undefined,
    secrets: Boolean(input.secrets) && level >= Master,
  }
}

/**
 * The scope of the cached record contains everything about the viewer that the record depends on. The version key
 * contains everything else.
 */
function keyOf(
  viewer: User | null,
  versionKey: ProjectVersion,
  { simple, statistics, secrets }: Visible,
): CachedRecordKey {
  const own = `${versionKey.version} ${versionKey.namespace_version} ${versionKey.owner_version}`
  if (simple) return { cacheKey: `simple project ${versionKey.id}`, versionKey: own }
  const isPerson = levelOf(viewer, versionKey.access_level) >= Guest
  const hasSource = showsSource(viewer, versionKey)
  // Lists compute many keys, and a number is cheaper to build than a text.
  const flags = Number(isPerson) + 2 * Number(hasSource) + 4 * Number(statistics !== undefined) + 8 * Number(secrets)
  const memberships = `${versionKey.project_access} ${versionKey.project_notification} ${versionKey.group_access} ${versionKey.group_notification}`
  const source = `${versionKey.source_version} ${versionKey.source_namespace_version} ${versionKey.source_owner_version}`
  const shown = `${own} ${versionKey.open_issues} ${statistics?.artifactsSize} ${versionKey.shares}`
  return {
    cacheKey: `project ${versionKey.id} ${flags} ${openVisibilities(viewer).length} ${memberships}`,
    versionKey: hasSource ? `${shown} ${source}` : shown,
  }
}

function present(app: App, loaded: LoadedProject, { simple, statistics, secrets }: Visible) {
  const at = addresses(app)
  if (simple) return presentSimpleProject(loaded, at)
  return presentProject(loaded, at, { permissions: true, statistics, ...(secrets && opened(app, loaded)) })
}

const opened = ({ vault }: App, { project }: LoadedProject): Pick<RecordOptions, 'runnersToken'> => ({
  runnersToken: vault.open(project.runners_token_sealed),
})

/** Records for a page of a list. */
export async function presentProjects(
  app: App,
  viewer: User | null,
  projects: readonly { id: number }[],
  input: PageRecordOptions = {},
): Promise<Json<ProjectRecord | SimpleProjectRecord>[]> {
  const found = await projectVersions(app.db, viewer, projects, input.binned && { binned_too: true })
  const shown = found.filter(({ deleting, access_level }) => !deleting || levelOf(viewer, access_level) >= Owner)
  const loaded = await presentVersioned(app, viewer, shown, input)
  const records = await withDeleters(app, shown, loaded)
  return withAttributes(app.db, viewer, 'project_id', projects, input, records)
}

/** For projects in the bin. Records are cached, and names of users may change. */
async function withDeleters(
  app: App,
  versionKeys: readonly ProjectVersion[],
  records: Json<ProjectRecord | SimpleProjectRecord>[],
): Promise<Json<ProjectRecord | SimpleProjectRecord>[]> {
  const ids = versionKeys.filter(({ deleting }) => deleting).map(({ id }) => id)
  if (ids.length === 0) return records
  const rows = await app.db.selectFrom('projects').select(['id', 'deleted_by_id']).where('id', 'in', ids).execute()
  const deleters = await deletersOf(app, rows)
  return records.map((record) => {
    const { value } = record
    const deleted_by = deleters.get(value.id)
    return deleted_by === undefined || !('archived' in value) ? record : Json.of({ ...value, deleted_by })
  })
}

export async function presentProjectFor(
  app: App,
  { viewer, versionKey }: VersionedProject,
  input: PageRecordOptions & { secrets?: boolean } = {},
): Promise<Json<ProjectRecord | SimpleProjectRecord>> {
  const [record] = await presentVersioned(app, viewer, [versionKey], input)
  if (!record) throw notFound('Project')
  return record
}

async function presentVersioned(
  app: App,
  viewer: User | null,
  versionKeys: readonly ProjectVersion[],
  input: PageRecordOptions & { secrets?: boolean },
): Promise<Json<ProjectRecord | SimpleProjectRecord>[]> {
  const sizes = input.statistics && versionKeys.length > 0 ? await artifactSizesOf(app.db, versionKeys) : null
  const shown = versionKeys.map((versionKey) => shownTo(viewer, versionKey, input, sizes))
  const keys = versionKeys.map((versionKey, i) => keyOf(viewer, versionKey, shown[i]!))
  return cachedRecords(app, keys, async (missing) => {
    const missingKeys = missing.map((i) => versionKeys[i]!)
    const loaded = await load(app.db, viewer, missingKeys)
    return loaded.map((one, n) => one && present(app, one, shown[missing[n]!]!))
  })
}

/** One full record of the row as the change left it, because background work may already have changed the row again. */
export async function presentOneProject(
  app: App,
  viewer: User,
  project: Project,
  { secrets = false }: { secrets?: boolean } = {},
): Promise<ProjectRecord> {
  const [now] = await loadProjects(app.db, viewer, [project])
  if (!now) throw notFound('Project')
  const loaded = { ...now, project }
  return presentProject(loaded, addresses(app), secrets && loaded.level >= Master ? opened(app, loaded) : {})
}
