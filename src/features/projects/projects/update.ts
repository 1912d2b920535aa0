import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { forbidden, invalid, notFound } from '../../../errors.ts'
import { branchExists } from '../../../git/refs/refs.ts'
import { setHead } from '../../../git/storage/repositories.ts'
import { Owner, isWider } from '../../../lib/levels.ts'
import type { RowChange } from '../../../store/database.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { avatarChange, keepAvatar } from '../../identity/users/avatar.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import { closePoolsOf } from '../forks/pools.ts'
import { checkedImport, scheduleImport } from '../imports/service.ts'
import { columnsOf, containerExpirationChange, topicsOf, type AttributeInput } from './attributes.ts'
import { lockNamespace, lockPath, addRedirect } from '../paths/paths.ts'
import type { ProjectSubject } from './policy.ts'
import { findProjectById, lockProject, pathWithNamespace, type Namespace, type Project } from './queries.ts'
import { repositoryDir } from '../repositories/repository.ts'
import { assertFree, refusingDuplicates, setTopics, storageFor } from './service.ts'
import { projectFaults } from './validation.ts'
import { assertVisibilityAllowed, narrowForks } from './visibility.ts'

export interface ProjectChange extends Partial<AttributeInput> {
  name?: string | null | undefined
  path?: string | null | undefined
  default_branch?: string | null | undefined
}

/** Omitted fields stay. Maintainers may change most fields; only owners may change the name and the visibility. */
export async function updateProject(
  app: App,
  actor: User,
  { project, namespace, level }: ProjectSubject,
  input: ProjectChange,
): Promise<Project> {
  const changed = differing(project, input)
  const { name, path, visibility, default_branch: branch } = changed
  if (level < Owner && (name !== undefined || visibility !== undefined)) throw forbidden()

  const topics = topicsOf(input)
  assertValid(project, input, changed, topics)
  if (branch !== undefined) await assertBranch(app, project, branch)
  await assertFits(app, actor, project, namespace, changed, (id) => findProjectById(app.db, id))
  const source = input.import_url ? await checkedImport(app, input.import_url) : null
  const change: RowChange<'projects'> = {
    ...columnsOf(input),
    ...changed,
    ...(actor.admin && input.repository_storage && storageChange(app, actor, project, input.repository_storage)),
    ...(source && { ...source, import_status: 'scheduled', import_error: null, import_progress: null }),
    ...(await avatarChange(app, input.avatar)),
    updated_at: timestamp(app.clock),
  }
  if (branch !== undefined) await setHead(repositoryDir(app, project), branch)

  return refusingDuplicates(
    {},
    transact(app, async (app) => {
      const before = await lockProject(app, project.id)
      // The project may have moved meanwhile, and its group may have changed.
      const namespaceNow = before && (await lockNamespace(app, before.namespace_id))
      if (!before || !namespaceNow) throw notFound('Project')
      if (path !== undefined) await lockPath(app, `${namespaceNow.full_path}/${path}`)
      await assertFits(app, actor, before, namespaceNow, changed, (id) => lockProject(app, id))
      const updated = await app.db
        .updateTable('projects')
        .set({ ...change, ...containerExpirationChange(before, input) })
        .where('id', '=', project.id)
        .returningAll()
        .executeTakeFirstOrThrow()
      if (topics) await setTopics(app, updated, topics)
      if (isWider(before.visibility, updated.visibility)) await narrowForks(app, updated)
      if (updated.repository_access_level < before.repository_access_level) await closePoolsOf(app, [updated.id])
      if (change.avatar_digest !== undefined) await releaseBlob(app, before.avatar_digest)
      if (source) await scheduleImport(app, updated)
      const oldPath = pathWithNamespace(before, namespaceNow)
      const isMoved = before.path !== updated.path
      if (before.path.toLowerCase() !== updated.path.toLowerCase()) {
        await addRedirect(app, oldPath, { project_id: project.id })
      }
      await emit(app, 'project.updated', { id: project.id, by: actor.id, ...(isMoved && { old_path: oldPath }) })
      return updated
    }),
  ).then(keepAvatar(app, input.avatar))
}

type ChangedFields = Partial<Pick<Project, 'name' | 'path' | 'visibility' | 'default_branch'>>

/**
 * Keeps only fields that would change: a caller who sends old values of the other fields must not undo changes of
 * others.
 */
function differing(project: Project, { name, path, visibility, default_branch }: ProjectChange): ChangedFields {
  return {
    ...(typeof name === 'string' && name !== project.name && { name }),
    ...(typeof path === 'string' && path !== project.path && { path }),
    ...(visibility && visibility !== project.visibility && { visibility }),
    ...(default_branch && default_branch !== project.default_branch && { default_branch }),
  }
}

/**
 * Checks the new values against the namespace. Locks the source of a fork, because a fork must not become public while
 * its source becomes private.
 */
async function assertFits(
  app: App,
  actor: User,
  project: Project,
  namespace: Namespace,
  changed: ChangedFields,
  findSource: (id: number) => Promise<Project | null>,
): Promise<void> {
  const { name, path, visibility } = changed
  if (visibility !== undefined) {
    const source = project.forked_from_id === null ? null : await findSource(project.forked_from_id)
    await assertVisibilityAllowed(app, actor, visibility, { namespace, source })
  }
  if (name !== undefined || path !== undefined) await assertFree(app, namespace, { ...project, ...changed })
}

/** Validates only given fields: an invalid value from an import or an older version must not block other changes. */
function assertValid(
  project: Project,
  input: ProjectChange,
  changed: ChangedFields,
  topics: string[] | undefined,
): void {
  const { name, path, default_branch } = changed
  const faults = projectFaults({ ...input, name, path, default_branch, tag_list: topics })
  if (Object.keys(faults).length > 0) throw invalid(faults)
  if (input.import_url && !project.empty_repo) throw invalid({ import_url: ['can be set only on an empty repository'] })
}

async function assertBranch(app: App, project: Project, branch: string): Promise<void> {
  const exists = !project.empty_repo && (await branchExists(repositoryDir(app, project), branch))
  if (!exists) throw invalid({ base: [`Could not change HEAD: branch '${branch}' does not exist`] })
}

/** Repositories cannot move between storages yet. The current storage is no change, and another one is rejected. */
function storageChange(app: App, actor: User, project: Project, name: string): RowChange<'projects'> {
  const storage = storageFor(app, actor, name)
  if (storage !== project.repository_storage) {
    throw invalid({ repository_storage: ['can not be changed once the project exists'] })
  }
  return {}
}
