import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { blankable, date, id, int } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import { Developer, Guest, Master, Reporter } from '../../../lib/levels.ts'
import { project } from '../projects/queries.ts'
import { GroupLinkEntity, presentGroupLink } from './entity.ts'
import { groupLink } from './queries.ts'
import { shareProject, unshareProject } from './service.ts'

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/share',
  summary: 'Share a project with a group',
  on: project,
  allow: 'administer',
  input: z.object({
    group_id: id,
    group_access: int.pipe(z.literal([Guest, Reporter, Developer, Master])),
    expires_at: blankable(date),
  }),
  output: GroupLinkEntity,
  handle: async ({ app, viewer, subject, input }) => presentGroupLink(await shareProject(app, viewer, subject, input)),
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/share/:group_id',
  summary: 'Stop sharing a project with a group',
  on: groupLink,
  allow: 'administer',
  changedAt: ({ link }) => link.updated_at,
  output: null,
  async handle({ app, viewer, subject }) {
    if (!(await unshareProject(app, subject.link, viewer))) throw notFound('Group Link')
  },
})
