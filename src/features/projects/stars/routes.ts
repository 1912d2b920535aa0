import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import { surroundings, userByIdOrUsername } from '../../identity/users/queries.ts'
import { ProjectEntity, SimpleProjectEntity } from '../projects/entity.ts'
import { filters, refused } from '../lists/filters.ts'
import { asksForBin, listProjects } from '../lists/lists.ts'
import { presentOneProject, presentProjects } from '../projects/load.ts'
import { project } from '../projects/queries.ts'
import { StarrerEntity, presentStarrer } from './entity.ts'
import { listStarrers } from './queries.ts'
import { starProject, unstarProject } from './service.ts'

export const star = endpoint({
  method: 'POST',
  path: '/projects/:id/star',
  summary: 'Star a project',
  on: project,
  allow: 'star',
  whileReadOnly: true,
  output: ProjectEntity,
  status: 200,
  async handle({ app, viewer, subject }) {
    return presentOneProject(app, viewer, await starProject(app, viewer, subject.project))
  },
})

export const unstar = endpoint({
  method: 'POST',
  path: '/projects/:id/unstar',
  summary: 'Unstar a project',
  on: project,
  allow: 'star',
  whileReadOnly: true,
  output: ProjectEntity,
  status: 200,
  async handle({ app, viewer, subject }) {
    return presentOneProject(app, viewer, await unstarProject(app, viewer, subject.project))
  },
})

export const starrers = endpoint({
  method: 'GET',
  path: '/projects/:id/starrers',
  summary: 'List who starred a project',
  on: project,
  allow: 'read',
  input: z.object({ search: text.nullish() }),
  output: pageOf(StarrerEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listStarrers(app.db, subject.project.id, input.search, page)
    const around = await surroundings(app)
    return { total, items: items.map((star) => presentStarrer(star, around)) }
  },
})

export const listOfUser = endpoint({
  method: 'GET',
  path: '/users/:user_id/starred_projects',
  summary: 'List the projects a user starred',
  throttle: 'user_starred_projects_api_limit',
  on: userByIdOrUsername,
  by: 'visitor',
  allow: 'anyone',
  input: z.object(filters),
  refuses: refused,
  output: pageOf(z.union([ProjectEntity, SimpleProjectEntity])),
  async handle({ app, viewer, subject, input, page }) {
    const { items, total } = await listProjects(app, viewer, { ...input, starred_by: subject.user.id }, page)
    return { total, items: await presentProjects(app, viewer, items, { ...input, binned: asksForBin(input) }) }
  },
})
