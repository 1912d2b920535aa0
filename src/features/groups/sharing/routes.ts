import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { blankable, date, id, int } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import { Developer, Guest, Master, Owner, Reporter } from '../../../lib/levels.ts'
import { GroupDetailsEntity } from '../groups/entity.ts'
import { loadGroupDetails } from '../groups/load.ts'
import { group } from '../groups/queries.ts'
import { groupShare } from './queries.ts'
import { shareGroup, unshareGroup } from './service.ts'

export const create = endpoint({
  method: 'POST',
  path: '/groups/:id/share',
  summary: 'Share a group with another group',
  on: group,
  allow: 'own',
  input: z.object({
    group_id: id,
    group_access: int.pipe(z.literal([Guest, Reporter, Developer, Master, Owner])),
    expires_at: blankable(date),
  }),
  output: GroupDetailsEntity,
  async handle({ app, viewer, subject, input }) {
    await shareGroup(app, viewer, subject.group, input)
    return loadGroupDetails(app, viewer, subject.group)
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/groups/:id/share/:group_id',
  summary: 'Stop sharing a group with another group',
  on: groupShare,
  allow: 'own',
  changedAt: ({ share }) => share.updated_at,
  output: null,
  async handle({ app, viewer, subject }) {
    if (!(await unshareGroup(app, subject.share, viewer))) throw notFound('Group Link')
  },
})
