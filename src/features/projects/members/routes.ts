import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { id, listOf, text } from '../../../api/wire.ts'
import { memberEndpoints } from '../../access/members/endpoints.ts'
import { listAuthorizedUsers } from '../../access/members/effective-members.ts'
import { UserSummaryEntity, presentUserSummary } from '../../identity/users/entity.ts'
import { surroundings } from '../../identity/users/queries.ts'
import { projectScope } from '../scope.ts'
import { project } from '../projects/queries.ts'

export const { list, listAll, getFromAll, get, create, update, destroy, restore } = memberEndpoints(projectScope)

export const listUsers = endpoint({
  method: 'GET',
  path: '/projects/:id/users',
  summary: 'List the people who may work on a project',
  on: project,
  allow: 'read',
  by: 'visitor',
  input: z.object({ search: text.nullish(), skip_users: listOf(id).nullish() }),
  output: pageOf(UserSummaryEntity),
  async handle({ app, viewer, subject, input, page }) {
    const { items, total } = await listAuthorizedUsers(app.db, viewer, subject.project.id, input, page)
    const around = await surroundings(app)
    return { total, items: items.map((user) => presentUserSummary(user, around)) }
  },
})
