import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, id, longText, oneOf, text } from '../../../api/wire.ts'
import { VISIBILITIES } from '../../../lib/levels.ts'
import { ProjectEntity, SimpleProjectEntity } from '../projects/entity.ts'
import { filters, refused } from '../lists/filters.ts'
import { asksForBin, listProjects } from '../lists/lists.ts'
import { presentOneProject, presentProjects } from '../projects/load.ts'
import { project } from '../projects/queries.ts'
import { forkSource } from './queries.ts'
import { addForkRelation, removeForkRelation } from './relation.ts'
import { forkProject } from './service.ts'

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/fork',
  summary: 'Fork a project',
  throttle: 'project_create_limit',
  on: project,
  allow: 'read',
  alsoAsks: ['create projects in the namespace'],
  whileReadOnly: true,
  input: z.object({
    namespace: blankable(text),
    namespace_id: blankable(id),
    namespace_path: blankable(text),
    name: blankable(text),
    path: blankable(text),
    description: longText.nullish(),
    visibility: oneOf(...VISIBILITIES).nullish(),
  }),
  output: ProjectEntity,
  async handle({ app, viewer, subject, input }) {
    const { namespace, namespace_id, namespace_path, ...request } = input
    const target = namespace ?? namespace_id ?? namespace_path ?? null
    const fork = await forkProject(app, viewer, subject, {
      ...request,
      namespace: target === null ? null : String(target),
    })
    return presentOneProject(app, viewer, fork, { secrets: true })
  },
})

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/forks',
  summary: 'List the forks of a project',
  on: project,
  allow: 'read',
  by: 'visitor',
  input: z.object(filters),
  refuses: refused,
  output: pageOf(z.union([ProjectEntity, SimpleProjectEntity])),
  async handle({ app, viewer, subject, input, page }) {
    const { items, total } = await listProjects(app, viewer, { ...input, forked_from_id: subject.project.id }, page)
    return { total, items: await presentProjects(app, viewer, items, { ...input, binned: asksForBin(input) }) }
  },
})

export const relate = endpoint({
  method: 'POST',
  path: '/projects/:id/fork/:forked_from_id',
  summary: 'Create a fork relationship between projects',
  on: forkSource,
  allow: 'administrator',
  output: ProjectEntity,
  async handle({ app, viewer, subject }) {
    const related = await addForkRelation(app, subject.project, subject.source)
    return presentOneProject(app, viewer, related, { secrets: true })
  },
})

export const unrelate = endpoint({
  method: 'DELETE',
  path: '/projects/:id/fork',
  summary: 'Delete the fork relationship of a project',
  on: project,
  allow: 'administrator',
  changedAt: ({ project }) => project.updated_at,
  output: null,
  handle: ({ app, viewer, subject }) => removeForkRelation(app, viewer, subject.project),
})
