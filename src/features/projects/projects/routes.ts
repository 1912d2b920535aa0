import { z } from 'zod'
import type { Caller } from '../../../api/credentials.ts'
import { endpoint } from '../../../api/endpoint.ts'
import type { Json } from '../../../api/json.ts'
import { pageOf, type Page, type PageRequest } from '../../../api/pages.ts'
import { blankable, bool, file, int, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { LARGEST_AVATAR } from '../../identity/users/avatar.ts'
import { personalNamespaceId } from '../../identity/namespaces/queries.ts'
import { userByIdOrUsername, userByUserId } from '../../identity/users/queries.ts'
import { attributes } from './attributes.ts'
import { purgeProject, restoreProject } from './bin.ts'
import { ProjectEntity, SimpleProjectEntity, type ProjectRecord } from './entity.ts'
import { filters, refused } from '../lists/filters.ts'
import { answerByKeyset } from '../lists/keyset.ts'
import { describeLicense } from '../repositories/license.ts'
import { asksForBin, listProjects, type ProjectFilter } from '../lists/lists.ts'
import { presentProjectFor, presentOneProject, presentProjects, type PageRecordOptions } from './load.ts'
import { project, projectOrBinned } from './queries.ts'
import { withReadme } from '../repositories/readme.ts'
import { deleteProject } from './delete.ts'
import { createProject } from './service.ts'
import { setArchived } from './archiving.ts'
import { updateProject } from './update.ts'

/** A token without the `api` scope must not reveal a runner token. */
const mayReadSecrets = ({ identity }: Caller) => !identity?.scopes || identity.scopes.includes('api')

const ProjectPage = pageOf(z.union([ProjectEntity, SimpleProjectEntity]))

async function answerList(
  app: App,
  viewer: User | null,
  filter: ProjectFilter & PageRecordOptions,
  page: PageRequest,
): Promise<Page<Json<z.infer<typeof ProjectPage.item>>>> {
  const { items, total } = await listProjects(app, viewer, filter, page)
  return { total, items: await presentProjects(app, viewer, items, { ...filter, binned: asksForBin(filter) }) }
}

export const list = endpoint({
  method: 'GET',
  path: '/projects',
  summary: 'List projects',
  throttle: 'projects_api_limit',
  by: 'visitor',
  allow: 'anyone',
  input: z.object({ ...filters, pagination: text.nullish() }),
  refuses: refused,
  output: ProjectPage,
  async handle({ app, viewer, input, page }) {
    if (input.pagination !== 'keyset') return answerList(app, viewer, input, page)
    return answerByKeyset(app, viewer, input, page, (items) =>
      presentProjects(app, viewer, items, { ...input, binned: asksForBin(input) }),
    )
  },
})

export const listOfUser = endpoint({
  method: 'GET',
  path: '/users/:user_id/projects',
  summary: "List a user's personal projects",
  throttle: 'user_projects_api_limit',
  on: userByIdOrUsername,
  by: 'visitor',
  allow: 'anyone',
  input: z.object(filters),
  refuses: refused,
  output: ProjectPage,
  async handle({ app, viewer, subject, input, page }) {
    const namespace_id = await personalNamespaceId(app.db, subject.user.id)
    return answerList(app, viewer, { ...input, namespace_id }, page)
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id',
  summary: 'Get a project',
  throttle: 'project_api_limit',
  on: projectOrBinned,
  allow: 'read',
  by: 'visitor',
  input: z.object({
    statistics: bool.nullish(),
    license: bool.nullish(),
    include_pending_delete: bool.nullish(),
  }),
  output: z.union([ProjectEntity, SimpleProjectEntity]),
  async handle({ app, caller, subject, input }) {
    if (subject.project.deleting && !input.include_pending_delete) throw notFound('Project')
    const secrets = mayReadSecrets(caller)
    const record = await presentProjectFor(app, subject, { statistics: input.statistics, secrets })
    return input.license ? { ...record.value, ...(await describeLicense(app, subject)) } : record
  },
})

const creation = z.object({
  name: text.nullish(),
  path: text.nullish(),
  namespace_id: blankable(int),
  /** A field of newer clients. Ignored for imports, which have their own first commit. */
  initialize_with_readme: blankable(bool),
  ...attributes,
  avatar: file.nullish(),
})

async function createFrom(
  app: App,
  viewer: User,
  input: z.infer<typeof creation> & { default_branch?: string | null | undefined },
  owner: User = viewer,
): Promise<ProjectRecord> {
  const created = await createProject(app, viewer, { ...input, avatar: input.avatar ?? undefined }, owner)
  const isToBegin = input.initialize_with_readme && created.import_status === 'none'
  const begun = isToBegin ? await withReadme(app, viewer, created, owner) : created
  return presentOneProject(app, viewer, begun, { secrets: true })
}

const NAMELESS = 'name, path are missing, at least one parameter must be provided'
const isNamed = ({ name, path }: { name?: string | null | undefined; path?: string | null | undefined }) =>
  (name ?? path ?? null) !== null

export const create = endpoint({
  method: 'POST',
  path: '/projects',
  summary: 'Create a project',
  throttle: 'project_create_limit',
  allow: 'signed_in',
  alsoAsks: ['create projects in the namespace'],
  upload: LARGEST_AVATAR * 2,
  input: creation.extend({ default_branch: text.nullish() }).refine(isNamed, { message: NAMELESS }),
  output: ProjectEntity,
  handle: ({ app, viewer, input }) => createFrom(app, viewer, input),
})

export const createForUser = endpoint({
  method: 'POST',
  path: '/projects/user/:user_id',
  summary: 'Create a project for a user',
  on: userByUserId,
  allow: 'administrator',
  upload: LARGEST_AVATAR * 2,
  input: creation.extend({ name: text }),
  output: ProjectEntity,
  handle: ({ app, viewer, subject, input }) => createFrom(app, viewer, input, subject.user),
})

const changes = { name: text.nullish(), path: text.nullish(), default_branch: text.nullish(), ...attributes }
const NOTHING_GIVEN = `${Object.keys(changes).join(', ')} are missing, at least one parameter must be provided`

export const update = endpoint({
  method: 'PUT',
  path: '/projects/:id',
  summary: 'Update a project',
  on: project,
  allow: 'administer',
  alsoAsks: ['own the project, for its name and visibility'],
  whileReadOnly: true,
  upload: LARGEST_AVATAR * 2,
  input: z.object(changes).refine((input) => Object.values(input).some((value) => value !== undefined), {
    message: NOTHING_GIVEN,
  }),
  output: ProjectEntity,
  async handle({ app, viewer, subject, input }) {
    const updated = await updateProject(app, viewer, subject, input)
    return presentOneProject(app, viewer, updated, { secrets: true })
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id',
  summary: 'Delete a project with everything in it',
  on: projectOrBinned,
  allow: 'own',
  audited: true,
  changedAt: ({ project }) => project.updated_at,
  input: z.object({
    /** Deletes a project in the bin for good. `full_path` confirms it. */
    permanently_remove: bool.nullish(),
    full_path: text.nullish(),
  }),
  output: null,
  async handle({ app, viewer, subject, input }) {
    if (input.permanently_remove) return purgeProject(app, subject, input.full_path ?? null)
    if (subject.project.deleting) throw notFound('Project')
    return deleteProject(app, viewer, subject.project, subject.namespace)
  },
})

export const restore = endpoint({
  method: 'POST',
  path: '/projects/:id/restore',
  summary: 'Restore a deleted project',
  on: projectOrBinned,
  allow: 'own',
  audited: true,
  whileReadOnly: true,
  /** Needed if the old name or path is taken. */
  input: z.object({ name: text.nullish(), path: text.nullish() }),
  output: ProjectEntity,
  async handle({ app, viewer, subject, input }) {
    return presentOneProject(app, viewer, await restoreProject(app, viewer, subject.project, input))
  },
})

export const archive = endpoint({
  method: 'POST',
  path: '/projects/:id/archive',
  summary: 'Archive a project',
  on: project,
  allow: 'own',
  whileReadOnly: true,
  output: ProjectEntity,
  status: 200,
  async handle({ app, viewer, subject }) {
    return presentOneProject(app, viewer, await setArchived(app, viewer, subject.project, true))
  },
})

export const unarchive = endpoint({
  method: 'POST',
  path: '/projects/:id/unarchive',
  summary: 'Unarchive a project',
  on: project,
  allow: 'own',
  whileReadOnly: true,
  output: ProjectEntity,
  status: 200,
  async handle({ app, viewer, subject }) {
    return presentOneProject(app, viewer, await setArchived(app, viewer, subject.project, false))
  },
})
