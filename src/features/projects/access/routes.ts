import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { blankable, id } from '../../../api/wire.ts'
import { forbidden, notFound } from '../../../errors.ts'
import { Owner } from '../../../lib/levels.ts'
import { presentUserSummary } from '../../identity/users/entity.ts'
import { findUser, surroundings } from '../../identity/users/queries.ts'
import { pathWithNamespace, project } from '../projects/queries.ts'
import { AccessEntity, presentAccess } from './entity.ts'
import { accessFacts } from './queries.ts'

/** An endpoint beyond the API contract: explains why a user has access or not. */
export const explain = endpoint({
  method: 'GET',
  path: '/projects/:id/access',
  summary: 'Explain the access level of a user on a project',
  on: project,
  allow: 'read',
  alsoAsks: ['own the project, for other users'],
  input: z.object({ user_id: blankable(id) }),
  output: AccessEntity,
  async handle({ app, viewer, subject, input }) {
    const userId = input.user_id ?? viewer.id
    // Only owners may see the memberships of other users.
    if (userId !== viewer.id && subject.level < Owner) throw forbidden()
    const user = await findUser(app.db, userId)
    if (!user) throw notFound('User')
    const { project, namespace } = subject
    // Only administrators learn who is an administrator.
    const member = viewer.admin ? user : { ...user, admin: false }
    const facts = await accessFacts(app.db, member, project, namespace)
    return presentAccess(facts, presentUserSummary(user, await surroundings(app)), {
      id: project.id,
      path_with_namespace: pathWithNamespace(project, namespace),
      visibility: project.visibility,
    })
  },
})
