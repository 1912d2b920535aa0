import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { oneOf } from '../../../api/wire.ts'
import { group } from '../../groups/groups/queries.ts'
import { ReleaseEntity } from './entity.ts'
import { listGroupReleases, presentGroupReleases } from './group-queries.ts'

export const list = endpoint({
  method: 'GET',
  path: '/groups/:id/releases',
  summary: 'List the releases of the projects in a group',
  on: group,
  allow: 'read',
  by: 'visitor',
  input: z.object({ sort: oneOf('asc', 'desc').nullish() }),
  output: pageOf(ReleaseEntity),
  async handle({ app, viewer, subject, input, page }) {
    const { items, total } = await listGroupReleases(app, viewer, subject.group.id, input.sort ?? 'desc', page)
    return { total, items: await presentGroupReleases(app, viewer, items) }
  },
})
