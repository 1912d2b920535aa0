import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, id, text } from '../../../api/wire.ts'
import { Owner } from '../../../lib/levels.ts'
import { GroupDetailsEntity, PublicGroupEntity, presentPublicGroup } from '../groups/entity.ts'
import { listGroupsWithLevel } from '../groups/lists.ts'
import { loadGroupDetails } from '../groups/load.ts'
import { group } from '../groups/queries.ts'
import { transferGroup } from './service.ts'

export const transfer = endpoint({
  method: 'POST',
  path: '/groups/:id/transfer',
  summary: 'Transfer a group to another group, or to the top level',
  on: group,
  allow: 'own',
  alsoAsks: ['create groups, or subgroups of the target'],
  input: z.object({ group_id: blankable(id) }),
  output: GroupDetailsEntity,
  async handle({ app, viewer, subject, input }) {
    return loadGroupDetails(app, viewer, await transferGroup(app, viewer, subject.group, input.group_id ?? null))
  },
})

export const locations = endpoint({
  method: 'GET',
  path: '/groups/:id/transfer_locations',
  summary: 'List the groups a group can be moved into',
  on: group,
  allow: 'own',
  input: z.object({ search: text.nullish() }),
  output: pageOf(PublicGroupEntity),
  async handle({ app, viewer, subject: { group }, input, page }) {
    const filter = { ...input, outside: group.id, skip_groups: group.parent_id === null ? [] : [group.parent_id] }
    const { items, total } = await listGroupsWithLevel(app, viewer, Owner, filter, page)
    return { total, items: items.map((one) => presentPublicGroup(one, app.url)) }
  },
})
