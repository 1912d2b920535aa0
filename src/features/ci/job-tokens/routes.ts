import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, entity, id } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import { group } from '../../groups/groups/queries.ts'
import { findProject, project } from '../../projects/projects/queries.ts'
import { setJobTokenScope } from '../../projects/projects/job-token-scope.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { JobEntity } from '../jobs/entity.ts'
import { presentOneJob } from '../jobs/queries.ts'
import { isJobBearer } from './authenticate.ts'
import { listAllowedGroups, listAllowedProjects } from './queries.ts'
import { allowJobsOf, disallowJobsOf } from './service.ts'

export const current = endpoint({
  method: 'GET',
  path: '/job',
  summary: 'Get the job whose token is shown',
  allow: 'signed_in',
  by: ['user', 'job'],
  output: JobEntity,
  async handle({ app, caller }) {
    if (!isJobBearer(caller.identity)) throw notFound('Job')
    const { job, user } = caller.identity
    const found = await findProject(app.db, String(job.project_id))
    if (!found) throw notFound()
    return presentOneJob(app, await loadRepositorySubject(app, found, user), job)
  },
})

const SCOPE = '/projects/:id/job_token_scope'
const ScopeEntity = entity({ inbound_enabled: z.boolean(), outbound_enabled: z.boolean() }).meta({
  id: 'JobTokenScope',
})

export const getScope = endpoint({
  method: 'GET',
  path: SCOPE,
  summary: 'Get whether only some may enter a project with tokens of their jobs',
  on: project,
  allow: 'administer',
  output: ScopeEntity,
  handle: async ({ subject }) => ({
    inbound_enabled: subject.project.job_token_scope_enabled,
    outbound_enabled: false,
  }),
})

export const updateScope = endpoint({
  method: 'PATCH',
  path: SCOPE,
  summary: 'Update the job token access settings of a project',
  on: project,
  allow: 'administer',
  input: z.object({ enabled: bool }),
  output: null,
  status: 204,
  handle: ({ app, subject, input }) => setJobTokenScope(app, subject.project, input.enabled),
})

const NamespaceEntity = entity({ id: z.int(), name: z.string(), path: z.string(), full_path: z.string() })
const AllowedProjectEntity = entity({
  id: z.int(),
  name: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
}).meta({ id: 'AllowedProject' })
const AllowedGroupEntity = NamespaceEntity.meta({ id: 'AllowedGroup' })
const PairEntity = (target: string) => entity({ source_project_id: z.int(), [target]: z.int() })

export const listProjects = endpoint({
  method: 'GET',
  path: `${SCOPE}/allowlist`,
  summary: 'List the projects whose jobs may enter',
  on: project,
  allow: 'administer',
  output: pageOf(AllowedProjectEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listAllowedProjects(app.db, subject.project.id, page)
    return {
      total,
      items: items.map(({ id, name, path, full_path }) => ({
        id,
        name,
        path,
        path_with_namespace: `${full_path}/${path}`,
      })),
    }
  },
})

export const allowProject = endpoint({
  method: 'POST',
  path: `${SCOPE}/allowlist`,
  summary: 'Add a project to the job token allowlist',
  on: project,
  allow: 'administer',
  input: z.object({ target_project_id: id }),
  output: PairEntity('target_project_id').meta({ id: 'JobTokenProject' }),
  async handle({ app, viewer, subject, input }) {
    const target = await project.find(app, { id: String(input.target_project_id) }, viewer)
    if (!target || !project.policy.read(target)) throw notFound('Project')
    await allowJobsOf(app, subject.project.id, { allowed_project_id: target.project.id, allowed_group_id: null })
    return { source_project_id: subject.project.id, target_project_id: target.project.id }
  },
})

export const disallowProject = endpoint({
  method: 'DELETE',
  path: `${SCOPE}/allowlist/:target_project_id`,
  summary: 'Remove a project from the job token allowlist',
  on: project,
  allow: 'administer',
  input: z.object({ target_project_id: id }),
  output: null,
  handle: ({ app, subject, input }) =>
    disallowJobsOf(app, subject.project.id, 'allowed_project_id', input.target_project_id),
})

export const listGroups = endpoint({
  method: 'GET',
  path: `${SCOPE}/groups_allowlist`,
  summary: 'List the groups whose jobs may enter',
  on: project,
  allow: 'administer',
  output: pageOf(AllowedGroupEntity),
  handle: ({ app, subject, page }) => listAllowedGroups(app.db, subject.project.id, page),
})

export const allowGroup = endpoint({
  method: 'POST',
  path: `${SCOPE}/groups_allowlist`,
  summary: 'Add a group to the job token allowlist',
  on: project,
  allow: 'administer',
  input: z.object({ target_group_id: id }),
  output: PairEntity('target_group_id').meta({ id: 'JobTokenGroup' }),
  async handle({ app, viewer, subject, input }) {
    const target = await group.find(app, { id: String(input.target_group_id) }, viewer)
    if (!target || !group.policy.read(target)) throw notFound('Group')
    await allowJobsOf(app, subject.project.id, { allowed_project_id: null, allowed_group_id: target.group.id })
    return { source_project_id: subject.project.id, target_group_id: target.group.id }
  },
})

export const disallowGroup = endpoint({
  method: 'DELETE',
  path: `${SCOPE}/groups_allowlist/:target_group_id`,
  summary: 'Remove a group from the job token allowlist',
  on: project,
  allow: 'administer',
  input: z.object({ target_group_id: id }),
  output: null,
  handle: ({ app, subject, input }) =>
    disallowJobsOf(app, subject.project.id, 'allowed_group_id', input.target_group_id),
})
