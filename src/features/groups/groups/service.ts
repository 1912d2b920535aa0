import type { Upload } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { forbidden, invalid, notFound } from '../../../errors.ts'
import { Owner, type Visibility } from '../../../lib/levels.ts'
import type { RowChange } from '../../../store/database.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { levelInGroup } from '../../access/authorizations/queries.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { addFounder } from '../../access/members/service.ts'
import type { ProjectCreationLevel, SubgroupCreationLevel } from '../../identity/namespaces/model.ts'
import { addNamespace, lockShares, updateNamespace } from '../../identity/namespaces/service.ts'
import { NO_AVATAR, avatarChange, keepAvatar, storeAvatar } from '../../identity/users/avatar.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { lockNamespace } from '../../projects/paths/paths.ts'
import { fitted } from '../../projects/projects/visibility.ts'
import { fullNameOf, fullPathOf, lockTree, moveTree, refusingDuplicates, reservePath } from './paths.ts'
import { groupPolicy } from './policy.ts'
import { findGroupById, loadGroupSubject, type Group } from './queries.ts'
import { assertValidGroup } from './validation.ts'
import { assertVisibilityAllowed } from './visibility.ts'

/** The fields that create and update both take; an absent or null field changes nothing. */
export interface GroupChange {
  name?: string | null | undefined
  path?: string | null | undefined
  description?: string | null | undefined
  visibility?: Visibility | null | undefined
  lfs_enabled?: boolean | null | undefined
  request_access_enabled?: boolean | null | undefined
  share_with_group_lock?: boolean | null | undefined
  membership_lock?: boolean | null | undefined
  /** Accepted from administrators only, ignored from other callers. */
  shared_runners_minutes_limit?: number | null | undefined
  project_creation_level?: ProjectCreationLevel | null | undefined
  subgroup_creation_level?: SubgroupCreationLevel | null | undefined
  require_two_factor_authentication?: boolean | null | undefined
  two_factor_grace_period?: number | null | undefined
  emails_disabled?: boolean | null | undefined
  /** The newer name, with the opposite meaning. */
  emails_enabled?: boolean | null | undefined
  auto_devops_enabled?: boolean | null | undefined
  avatar?: Upload | '' | null | undefined
}

export interface NewGroup extends GroupChange {
  name: string
  path: string
  parent_id?: number | null | undefined
}

export const MOST_ANCESTORS = 20

export async function createGroup(app: App, actor: User, input: NewGroup): Promise<Group> {
  const parent_id = input.parent_id ?? null
  if (parent_id !== null) await assertMayNestIn(app, actor, parent_id)
  else if (!actor.can_create_group && !actor.admin) throw forbidden()
  const given = heeded(actor, input)
  assertValidGroup(given, { isRoot: parent_id === null })
  const avatar = input.avatar ? await storeAvatar(app, input.avatar) : NO_AVATAR

  return refusingDuplicates(() =>
    transact(app, async (app) => {
      const parent = parent_id === null ? null : await lockedGroup(app, parent_id)
      if (parent) await assertNotTooDeep(app, parent)
      const visibility = input.visibility ?? (await usualVisibility(app, parent))
      await assertVisibilityAllowed(app, actor, visibility, { parent })
      const { name, path } = input
      const scope = { parent_id, name, path, full_path: fullPathOf(parent, path) }
      await reservePath(app, scope)
      const now = timestamp(app.clock)
      const group = await addNamespace(app, {
        kind: 'group',
        ...scope,
        full_name: fullNameOf(parent, name),
        owner_id: null,
        share_with_group_lock: parent?.share_with_group_lock ?? false,
        project_creation_level: await usualProjectCreation(app),
        ...columnsOf(given),
        visibility,
        ...avatar,
        created_at: now,
        updated_at: now,
      })
      // The group is empty, so no authorization needs a refresh.
      const at = { group_id: group.id, project_id: null }
      await addFounder(app, at, actor.id, { access_level: Owner, since: group.created_at })
      await emit(app, 'group.created', { id: group.id, by: actor.id })
      return group
    }),
  ).then(keepAvatar(app, input.avatar))
}

/** Whether the actor may create a group in the parent, or move one into it. */
export async function assertMayNestIn(app: App, actor: User, id: number): Promise<void> {
  const parent = await findGroupById(app.db, id)
  const subject = parent && (await loadGroupSubject(app, parent, actor))
  if (!subject || !groupPolicy.read(subject)) throw notFound('Group')
  if (!groupPolicy.createSubgroups(subject)) throw forbidden()
}

/** The current group, under lock. It may have been deleted since it was found. */
async function lockedGroup(app: TransactionApp, id: number): Promise<Group> {
  await lockTree(app, id)
  const group = await findGroupById(app.db, id)
  if (!group) throw notFound('Group')
  return group
}

async function assertNotTooDeep(app: App, parent: Group): Promise<void> {
  const above = await app.db
    .selectFrom('namespace_ancestors')
    .select('ancestor_id')
    .where('namespace_id', '=', parent.id)
    .execute()
  if (above.length > MOST_ANCESTORS) throw invalid({ parent_id: ['has too deep level of nesting'] })
}

/** The default of the instance, as far as the parent group allows it. */
async function usualVisibility(app: App, parent: Group | null): Promise<Visibility> {
  const { default_group_visibility: usual } = await currentSettings(app)
  return parent ? fitted(usual, parent.visibility) : usual
}

/** Indexed by the numbers of the instance's setting. */
const PROJECT_CREATION: ProjectCreationLevel[] = ['noone', 'maintainer', 'developer', 'administrator', 'owner']

async function usualProjectCreation(app: App): Promise<ProjectCreationLevel> {
  return PROJECT_CREATION[(await currentSettings(app)).default_project_creation]!
}

/** Absent fields stay unchanged. */
export async function updateGroup(app: App, actor: User, { id, parent_id }: Group, input: GroupChange): Promise<Group> {
  const given = heeded(actor, input)
  const avatar = await avatarChange(app, input.avatar)
  return refusingDuplicates(() =>
    transact(app, async (app) => {
      const group = await lockedGroup(app, id)
      const parent = parent_id === null ? null : await lockedGroup(app, parent_id)
      const { name = group.name, path = group.path, visibility = group.visibility, ...columns } = columnsOf(given)
      assertValidGroup(
        // A name or path that an older version allowed must not block other changes.
        { ...given, ...(name === group.name && { name: null }), ...(path === group.path && { path: null }) },
        { isRoot: parent === null },
      )
      if (visibility !== group.visibility) {
        await lockNamespace(app, id) // prevents that anything more visible is added in the meantime
        await assertVisibilityAllowed(app, actor, visibility, { parent, group })
      }
      const unlocks = group.share_with_group_lock && given.share_with_group_lock === false
      if (unlocks && parent) await assertMayUnlock(app, actor, parent)
      const full_path = fullPathOf(parent, path)
      if (name !== group.name || path !== group.path) {
        await reservePath(app, { id, parent_id, name, path, full_path })
      }
      const updated = await updateNamespace(app, id, {
        ...columns,
        ...avatar,
        name,
        path,
        visibility,
        full_path,
        full_name: fullNameOf(parent, name),
        updated_at: timestamp(app.clock),
      })
      await moveTree(app, group, updated)
      await spreadShareLock(app, group, updated)
      if (avatar.avatar_digest !== undefined) await releaseBlob(app, group.avatar_digest)
      const old = updated.full_path === group.full_path ? {} : { old_full_path: group.full_path }
      await emit(app, 'group.updated', { id, by: actor.id, ...old })
      return updated
    }),
  ).then(keepAvatar(app, input.avatar))
}

const STILL_LOCKED =
  'cannot be disabled when the parent group "Share with group lock" is enabled, except by the owner of the parent group'

async function assertMayUnlock(app: App, actor: User, parent: Group): Promise<void> {
  if (!parent.share_with_group_lock || (await levelInGroup(app.db, actor, parent.id)) >= Owner) return
  throw invalid({ share_with_group_lock: [STILL_LOCKED] })
}

/** Locking also locks everything below; unlocking unlocks this group alone. */
async function spreadShareLock(app: TransactionApp, before: Group, after: Group): Promise<void> {
  if (before.share_with_group_lock === after.share_with_group_lock) return
  if (after.share_with_group_lock) await lockShares(app, after.id)
  await refreshAuthorizations(app, { group: after.id })
}

function heeded(actor: User, input: GroupChange): GroupChange {
  return actor.admin ? input : { ...input, shared_runners_minutes_limit: undefined }
}

const COLUMNS = [
  'name',
  'path',
  'description',
  'visibility',
  'lfs_enabled',
  'request_access_enabled',
  'share_with_group_lock',
  'membership_lock',
  'project_creation_level',
  'subgroup_creation_level',
  'require_two_factor_authentication',
  'two_factor_grace_period',
  'emails_disabled',
] as const

/** Null means that the setting of the instance applies. */
const CLEARABLE = ['shared_runners_minutes_limit', 'auto_devops_enabled'] as const

type GroupColumns = Pick<RowChange<'namespaces'>, (typeof COLUMNS | typeof CLEARABLE)[number]>

/** The columns that the input sets. */
function columnsOf(input: GroupChange): GroupColumns {
  const emails = input.emails_enabled ?? null
  const columns = { ...input, emails_disabled: input.emails_disabled ?? (emails === null ? null : !emails) }
  const named = [
    ...COLUMNS.filter((name) => (columns[name] ?? null) !== null),
    ...CLEARABLE.filter((name) => columns[name] !== undefined),
  ]
  return Object.fromEntries(named.map((name) => [name, columns[name]]))
}
