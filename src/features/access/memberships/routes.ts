import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { oneOf } from '../../../api/wire.ts'
import { user } from '../../identity/users/queries.ts'
import { MembershipEntity, SOURCE_TYPES, presentMembership } from './entity.ts'
import { listMemberships } from './queries.ts'

export const list = endpoint({
  method: 'GET',
  path: '/users/:id(\\d+)/memberships',
  summary: 'List the projects and groups a user is a member of',
  on: user,
  allow: 'administrator',
  input: z.object({ type: oneOf(...SOURCE_TYPES).nullish() }),
  output: pageOf(MembershipEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listMemberships(app.db, subject.user, input.type ?? null, page)
    return { total, items: items.map(presentMembership) }
  },
})
