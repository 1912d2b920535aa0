import { sql } from 'kysely'
import type { Upload } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, invalid, notFound, type FieldErrors } from '../../../errors.ts'
import { createRepository, removeRepository } from '../../../git/storage/repositories.ts'
import { FeatureEnabled, Master } from '../../../lib/levels.ts'
import { pathOf } from '../../../lib/files/paths.ts'
import { digestOf, randomToken } from '../../../lib/crypto/secrets.ts'
import { TAKEN, tooLong } from '../../../lib/text/faults.ts'
import type { NewRow } from '../../../store/database.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import { levelInGroup } from '../../access/authorizations/queries.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { addFounder } from '../../access/members/service.ts'
import { NO_AVATAR, keepAvatar, storeAvatar } from '../../identity/users/avatar.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { checkedImport, scheduleImport } from '../imports/service.ts'
import { ensureTopics } from '../topics/service.ts'
import { columnsOf, containerExpirationChange, topicsOf, type AttributeInput } from './attributes.ts'
import { lockNamespace, lockPath } from '../paths/paths.ts'
import { projectCreationLevel } from './policy.ts'
import { findNamespaceById, lockProject, type Namespace, type Project } from './queries.ts'
import { newDiskPath, repositoryDir } from '../repositories/repository.ts'
import { assertValidProject } from './validation.ts'
import { assertVisibilityAllowed, defaultVisibility } from './visibility.ts'

export interface NewProject extends Partial<Omit<AttributeInput, 'avatar'>> {
  name?: string | null | undefined
  path?: string | null | undefined
  namespace_id?: number | null | undefined
  default_branch?: string | null | undefined
  avatar?: Upload | undefined
}

const DEFAULT_BRANCH = 'master'

/** `owner` is the user who gets the project: their namespace is the default, and their limit counts. */
export async function createProject(app: App, actor: User, input: NewProject, owner: User = actor): Promise<Project> {
  const namespace = await namespaceFor(app, actor, owner, input.namespace_id ?? null)
  await assertWithinLimit(app, namespace)
  const name = input.name ?? input.path ?? ''
  const path = input.path ?? pathOf(name)
  const topics = topicsOf(input)
  const settings = await currentSettings(app)
  const branch = input.default_branch || settings.default_branch_name || DEFAULT_BRANCH
  assertValidProject({ ...input, name, path, default_branch: branch, tag_list: topics })
  const visibility = input.visibility ?? (await defaultVisibility(app, namespace))
  await assertVisibilityAllowed(app, actor, visibility, { namespace })
  const source = input.import_url ? await checkedImport(app, input.import_url) : null
  const repository_storage = storageFor(app, actor, input.repository_storage)
  const avatar = input.avatar ? await storeAvatar(app, input.avatar) : NO_AVATAR

  const row = {
    ...blankProject(app, { namespace_id: namespace.id, name, path, creator_id: owner.id }),
    auto_devops_enabled: namespace.auto_devops_enabled ?? settings.auto_devops_enabled,
    shared_runners_enabled: settings.shared_runners_enabled,
    ci_config_path: settings.default_ci_config_path,
    ...columnsOf(input),
    ...containerExpirationChange(null, input),
    visibility,
    default_branch: branch,
    repository_storage,
    ...avatar,
    ...(source && { ...source, import_status: 'scheduled' as const }),
    topics: topics ?? [],
  }
  const added = await addProject(app, actor, namespace, row, source ? scheduleImport : undefined)
  return keepAvatar(app, input.avatar)(added)
}

type Blank = Pick<NewRow<'projects'>, 'namespace_id' | 'name' | 'path' | 'creator_id'>

/** A project with default values. */
export function blankProject(app: App, blank: Blank): NewRow<'projects'> {
  const now = timestamp(app.clock)
  const token = randomToken()
  return {
    ...blank,
    description: null,
    visibility: 'private',
    archived: false,
    deleting: false,
    forked_from_id: null,
    disk_path: newDiskPath(),
    repository_storage: 'default',
    default_branch: DEFAULT_BRANCH,
    empty_repo: true,
    readme_path: null,
    repository_access_level: FeatureEnabled,
    issues_access_level: FeatureEnabled,
    merge_requests_access_level: FeatureEnabled,
    builds_access_level: FeatureEnabled,
    wiki_access_level: FeatureEnabled,
    snippets_access_level: FeatureEnabled,
    forking_access_level: FeatureEnabled,
    container_registry_access_level: FeatureEnabled,
    resolve_outdated_diff_discussions: false,
    shared_runners_enabled: true,
    public_jobs: true,
    // Expired artifacts are deleted by default.
    keep_latest_artifact: false,
    only_allow_merge_if_pipeline_succeeds: false,
    only_allow_merge_if_all_discussions_are_resolved: false,
    printing_merge_requests_link_enabled: true,
    lfs_enabled: true,
    request_access_enabled: false,
    remove_source_branch_after_merge: false,
    merge_method: 'merge',
    squash_option: 'default_off',
    approvals_before_merge: 0,
    ci_config_path: null,
    suggestion_commit_message: null,
    merge_commit_template: null,
    squash_commit_template: null,
    container_expiration_policy: null,
    ...NO_AVATAR,
    runners_token_digest: digestOf(token),
    runners_token_sealed: app.vault.seal(token),
    import_url: null,
    import_credentials_sealed: null,
    import_status: 'none',
    import_error: null,
    import_progress: null,
    housekeeping_at: null,
    last_activity_at: now,
    created_at: now,
    updated_at: now,
  }
}

/**
 * Creates the repository first and then the row, so that no project exists without a repository. `also` runs in the
 * transaction of the row.
 */
export async function addProject(
  app: App,
  actor: User,
  namespace: Namespace,
  { topics, ...row }: NewRow<'projects'> & { topics: string[] },
  also?: (app: TransactionApp, project: Project) => Promise<void>,
): Promise<Project> {
  await assertFree(app, namespace, row, { limit_reached: [] })
  const dir = repositoryDir(app, row)
  await createRepository(dir, { defaultBranch: row.default_branch })
  try {
    return await refusingDuplicates(
      { limit_reached: [] },
      transact(app, async (app) => {
        // All of this may have changed while the repository was created.
        const source = await lockSource(app, row)
        const locked = await lockNamespace(app, namespace.id)
        if (!locked) throw invalid(INVALID_NAMESPACE)
        await assertWithinLimit(app, locked)
        await assertVisibilityAllowed(app, actor, row.visibility, { namespace: locked, source })
        await lockPath(app, `${locked.full_path}/${row.path}`)
        await assertFree(app, locked, row, { limit_reached: [] })
        const project = await app.db.insertInto('projects').values(row).returningAll().executeTakeFirstOrThrow()
        await setTopics(app, project, topics)
        if (namespace.owner_id !== null) await addOwner(app, project, namespace.owner_id)
        await refreshAuthorizations(app, { project: project.id })
        await also?.(app, project)
        await emit(app, 'project.created', { id: project.id, by: actor.id })
        return project
      }),
    )
  } catch (error) {
    await removeRepository(dir)
    throw error
  }
}

/** Locks the source of a fork, if there is one. */
async function lockSource(
  app: TransactionApp,
  { forked_from_id: id = null }: NewRow<'projects'>,
): Promise<Project | null> {
  if (id === null) return null
  const source = await lockProject(app, id)
  if (!source) throw notFound('Project')
  return source
}

/**
 * Makes the owner of a personal project its first member. The owner's permissions do not depend on this row. False if
 * they were a member already.
 */
export async function addOwner(app: App, project: Project, user_id: number): Promise<boolean> {
  const at = { group_id: null, project_id: project.id }
  return addFounder(app, at, user_id, { access_level: Master, since: project.updated_at })
}

export async function setTopics(app: App, { id }: Project, topics: readonly string[]): Promise<void> {
  await app.db.deleteFrom('project_topics').where('project_id', '=', id).execute()
  if (topics.length === 0) return
  const rows = topics.map((name, position) => ({ project_id: id, name, position }))
  await app.db.insertInto('project_topics').values(rows).execute()
  await ensureTopics(app, topics)
}

const INVALID_NAMESPACE = { namespace: ['is not valid'] }

/** The namespace in which `actor` may create a project. */
export async function namespaceFor(app: App, actor: User, owner: User, namespaceId: number | null): Promise<Namespace> {
  const own = app.db.selectFrom('namespaces').selectAll().where('owner_id', '=', owner.id).where('kind', '=', 'user')
  if (namespaceId === null) return own.executeTakeFirstOrThrow()
  const namespace = await findNamespaceById(app.db, namespaceId)
  if (!namespace || namespace.deleting || !(await mayPutInto(app, actor, owner, namespace))) {
    throw invalid(INVALID_NAMESPACE)
  }
  return namespace
}

export async function mayPutInto(app: App, actor: User, owner: User, namespace: Namespace): Promise<boolean> {
  if (namespace.kind === 'user') return actor.admin || (namespace.owner_id === owner.id && owner.id === actor.id)
  return (await levelInGroup(app.db, actor, namespace.id)) >= projectCreationLevel(actor, namespace)
}

/** Counts personal projects and forks, but no group projects. */
export async function assertWithinLimit(app: App, namespace: Namespace): Promise<void> {
  if (namespace.owner_id === null) return
  const { projects_limit: limit, taken } = await app.db
    .selectFrom('users')
    .select('projects_limit')
    .select((eb) =>
      eb
        .selectFrom('projects')
        .select((eb) => eb.fn.countAll<number>().as('taken'))
        .where('namespace_id', '=', namespace.id)
        .where('deleting', '=', false)
        .as('taken'),
    )
    .where('id', '=', namespace.owner_id)
    .executeTakeFirstOrThrow()
  if (Number(taken) < limit) return
  const message =
    limit === 0
      ? 'Personal project creation is not allowed. Please contact your administrator with questions'
      : `Your project limit is ${limit} projects! Please contact your administrator to increase it`
  throw new Refusal('forbidden', message, { body: { error: [message] } })
}

const LONGEST_FULL_PATH = 255

/** Rejects a name or path that is taken in the namespace. The errors include `more`. */
export async function assertFree(
  app: App,
  namespace: Namespace,
  target: { id?: number | undefined; name: string; path: string },
  more: FieldErrors = {},
): Promise<void> {
  if (`${namespace.full_path}/${target.path}`.length > LONGEST_FULL_PATH)
    throw invalid({ path: [tooLong(LONGEST_FULL_PATH)] })
  const path = target.path.toLowerCase()
  // The repository of a wiki has the project's path with this suffix.
  const twin = path.endsWith('.wiki') ? path.slice(0, -'.wiki'.length) : `${path}.wiki`
  const rivals = await app.db
    .selectFrom('projects')
    .select(['id', 'name', 'deleting', sql<string>`lower(path)`.as('path')])
    .where('namespace_id', '=', namespace.id)
    .where((eb) => eb.or([eb(sql`lower(path)`, 'in', [path, twin]), eb('name', '=', target.name)]))
    .execute()
  const others = rivals.filter(({ id }) => id !== target.id)
  if (others.some(({ deleting }) => deleting)) {
    throw invalid({ base: ['The project is still being deleted. Please try again later.'], ...more })
  }
  const group = await app.db
    .selectFrom('namespaces')
    .select('id')
    .where(sql`lower(full_path)`, '=', `${namespace.full_path}/${target.path}`.toLowerCase())
    .executeTakeFirst()
  const isNameTaken = others.some((one) => one.name === target.name || one.path === twin)
  const isPathTaken = group !== undefined || others.some((one) => one.path === path)
  if (isNameTaken || isPathTaken)
    throw invalid({ ...(isNameTaken && { name: [TAKEN] }), ...(isPathTaken && { path: [TAKEN] }), ...more })
}

/** Converts a unique violation by a concurrent request into the same error. */
export const refusingDuplicates = <T>(more: FieldErrors, change: Promise<T>): Promise<T> =>
  unlessTaken(
    change,
    'projects',
    [
      ['namespace_id', 'path'],
      ['namespace_id', 'name'],
    ],
    ([, field]) => invalid({ [field]: [TAKEN], ...more }),
  )

/** Only administrators choose a storage. Other projects go to the default storage of the instance. */
export function storageFor(app: App, actor: User, storage: string | null | undefined): string {
  if (!actor.admin || !storage) return 'default'
  if (!Object.hasOwn(app.config.storages, storage))
    throw invalid({ repository_storage: ['is not included in the list'] })
  return storage
}
