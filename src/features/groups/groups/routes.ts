import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf, type Page, type PageRequest } from '../../../api/pages.ts'
import { blankable, bool, date, file, id, int, listOf, longText, oneOf, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { VISIBILITIES } from '../../../lib/levels.ts'
import { attributeFilters, attributesOf } from '../../identity/custom-attributes.ts'
import { LARGEST_AVATAR } from '../../identity/users/avatar.ts'
import { ProjectEntity, SimpleProjectEntity } from '../../projects/projects/entity.ts'
import { filters as projectFilters, refused as projectRefused } from '../../projects/lists/filters.ts'
import { asksForBin, listProjects } from '../../projects/lists/lists.ts'
import { deletersOf } from '../../projects/projects/deleters.ts'
import { presentProjects } from '../../projects/projects/load.ts'
import { transferProject } from '../../projects/projects/transfer.ts'
import { purgeGroup, restoreGroup } from './bin.ts'
import { GroupDetailsEntity, GroupEntity, PROJECT_CREATION, SUBGROUP_CREATION, presentGroup } from './entity.ts'
import { GROUP_ORDERS, listGroups, type GroupFilter } from './lists.ts'
import { loadGroupDetails, sizesOf } from './load.ts'
import { group, groupOrBinned, incomingProject } from './queries.ts'
import { deleteGroup } from './delete.ts'
import { createGroup, updateGroup } from './service.ts'

const filters = {
  ...attributeFilters,
  skip_groups: listOf(id).nullish(),
  all_available: bool.nullish(),
  search: text.nullish(),
  visibility: oneOf(...VISIBILITIES).nullish(),
  owned: bool.nullish(),
  min_access_level: blankable(int),
  top_level_only: bool.nullish(),
  order_by: oneOf(...GROUP_ORDERS).nullish(),
  sort: oneOf('asc', 'desc').nullish(),
  statistics: bool.nullish(),
  include_pending_delete: bool.nullish(),
  only_pending_delete: bool.nullish(),
  marked_for_deletion_on: blankable(date),
}

async function answerList(
  app: App,
  viewer: User | null,
  filter: GroupFilter & { statistics?: boolean | null | undefined },
  page: PageRequest,
): Promise<Page<z.infer<typeof GroupEntity>>> {
  const { items, total } = await listGroups(app, viewer, filter, page)
  const sizes = filter.statistics && viewer?.admin ? await sizesOf(app.db, items) : () => undefined
  const deleters = await deletersOf(
    app,
    items.filter((one) => one.marked_for_deletion_at !== null),
  )
  const groups = items.map((one) => ({
    ...presentGroup(one, app.url, sizes(one)),
    ...(deleters.has(one.id) && { deleted_by: deleters.get(one.id)! }),
  }))
  if (!filter.with_custom_attributes || !viewer?.admin) return { total, items: groups }
  const attributes = await attributesOf(
    app.db,
    'group_id',
    items.map(({ id }) => id),
  )
  return { total, items: groups.map((one) => ({ ...one, custom_attributes: attributes(one.id) })) }
}

export const list = endpoint({
  method: 'GET',
  path: '/groups',
  summary: 'List groups, or search for them',
  throttle: 'groups_api_limit',
  by: 'visitor',
  allow: 'anyone',
  input: z.object(filters),
  output: pageOf(GroupEntity),
  handle: ({ app, viewer, input, page }) => answerList(app, viewer, input, page),
})

export const subgroups = endpoint({
  method: 'GET',
  path: '/groups/:id/subgroups',
  summary: 'List the groups directly in a group',
  on: group,
  allow: 'read',
  by: 'visitor',
  input: z.object(filters),
  output: pageOf(GroupEntity),
  handle: ({ app, viewer, subject, input, page }) =>
    answerList(app, viewer, { ...input, parent: subject.group.id }, page),
})

export const descendants = endpoint({
  method: 'GET',
  path: '/groups/:id/descendant_groups',
  summary: 'List all groups below a group',
  on: group,
  allow: 'read',
  by: 'visitor',
  input: z.object(filters),
  output: pageOf(GroupEntity),
  handle: ({ app, viewer, subject, input, page }) =>
    answerList(app, viewer, { ...input, ancestor: subject.group.id }, page),
})

export const get = endpoint({
  method: 'GET',
  path: '/groups/:id',
  summary: 'Get a group with its projects',
  throttle: 'group_api_limit',
  on: groupOrBinned,
  allow: 'read',
  by: 'visitor',
  input: z.object({ with_projects: bool.nullish(), include_pending_delete: bool.nullish() }),
  output: GroupDetailsEntity,
  async handle({ app, viewer, subject, input }) {
    if (subject.group.deleting && !input.include_pending_delete) throw notFound('Group')
    return loadGroupDetails(app, viewer, subject.group, { projects: input.with_projects ?? true })
  },
})

const attributes = {
  description: longText.nullish(),
  visibility: oneOf(...VISIBILITIES).nullish(),
  lfs_enabled: bool.nullish(),
  request_access_enabled: bool.nullish(),
  share_with_group_lock: bool.nullish(),
  membership_lock: bool.nullish(),
  shared_runners_minutes_limit: blankable(int),
  project_creation_level: oneOf(...PROJECT_CREATION).nullish(),
  subgroup_creation_level: oneOf(...SUBGROUP_CREATION).nullish(),
  require_two_factor_authentication: bool.nullish(),
  two_factor_grace_period: blankable(int),
  emails_disabled: bool.nullish(),
  emails_enabled: bool.nullish(),
  auto_devops_enabled: blankable(bool),
}

export const create = endpoint({
  method: 'POST',
  path: '/groups',
  summary: 'Create a group',
  allow: 'signed_in',
  alsoAsks: ['create groups, or subgroups of the parent'],
  upload: LARGEST_AVATAR * 2,
  input: z.object({ name: text, path: text, parent_id: blankable(id), ...attributes, avatar: file.nullish() }),
  output: GroupDetailsEntity,
  async handle({ app, viewer, input }) {
    return loadGroupDetails(app, viewer, await createGroup(app, viewer, input))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: '/groups/:id',
  summary: 'Update a group',
  on: group,
  allow: 'own',
  upload: LARGEST_AVATAR * 2,
  input: z.object({
    name: text.nullish(),
    path: text.nullish(),
    ...attributes,
    avatar: z.union([file, z.literal('')]).nullish(),
  }),
  output: GroupDetailsEntity,
  async handle({ app, viewer, subject, input }) {
    return loadGroupDetails(app, viewer, await updateGroup(app, viewer, subject.group, input))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/groups/:id',
  summary: 'Delete a group with everything in it',
  on: groupOrBinned,
  allow: 'own',
  audited: true,
  changedAt: ({ group }) => group.updated_at,
  input: z.object({
    /** Deletes a group in the bin for good. `full_path` confirms it. */
    permanently_remove: bool.nullish(),
    full_path: text.nullish(),
  }),
  output: null,
  async handle({ app, viewer, subject, input }) {
    if (input.permanently_remove) return purgeGroup(app, subject.group, input.full_path ?? null)
    if (subject.group.deleting) throw notFound('Group')
    return deleteGroup(app, viewer, subject.group)
  },
})

export const restore = endpoint({
  method: 'POST',
  path: '/groups/:id/restore',
  summary: 'Restore a deleted group with everything in it',
  on: groupOrBinned,
  allow: 'own',
  audited: true,
  /** Needed if the old name or path is taken. */
  input: z.object({ name: text.nullish(), path: text.nullish() }),
  output: GroupDetailsEntity,
  async handle({ app, viewer, subject, input }) {
    return loadGroupDetails(app, viewer, await restoreGroup(app, viewer, subject.group, input))
  },
})

export const projects = endpoint({
  method: 'GET',
  path: '/groups/:id/projects',
  summary: 'List the projects of a group and those shared with it',
  throttle: 'group_projects_api_limit',
  on: group,
  allow: 'read',
  by: 'visitor',
  input: z.object({ ...projectFilters, include_subgroups: bool.nullish(), with_shared: bool.nullish() }),
  refuses: projectRefused,
  output: pageOf(z.union([ProjectEntity, SimpleProjectEntity])),
  async handle({ app, viewer, subject, input, page }) {
    const { include_subgroups, with_shared, ...filter } = input
    const of = { id: subject.group.id, include_subgroups, with_shared: with_shared ?? true }
    const { items, total } = await listProjects(app, viewer, { ...filter, group: of }, page)
    return { total, items: await presentProjects(app, viewer, items, { ...filter, binned: asksForBin(filter) }) }
  },
})

export const sharedProjects = endpoint({
  method: 'GET',
  path: '/groups/:id/projects/shared',
  summary: 'List the projects shared with a group',
  on: group,
  allow: 'read',
  by: 'visitor',
  input: z.object(projectFilters),
  refuses: projectRefused,
  output: pageOf(z.union([ProjectEntity, SimpleProjectEntity])),
  async handle({ app, viewer, subject, input, page }) {
    const { items, total } = await listProjects(app, viewer, { ...input, shared_with: subject.group.id }, page)
    return { total, items: await presentProjects(app, viewer, items, { ...input, binned: asksForBin(input) }) }
  },
})

export const transfer = endpoint({
  method: 'POST',
  path: '/groups/:id/projects/:project_id',
  summary: 'Transfer a project to a group',
  on: incomingProject,
  allow: 'administrator',
  output: GroupDetailsEntity,
  async handle({ app, viewer, subject }) {
    await transferProject(app, viewer, subject.project, subject.group)
    return loadGroupDetails(app, viewer, subject.group)
  },
})
