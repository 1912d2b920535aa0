import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, id, int, listOf, oneOf, text } from '../../../api/wire.ts'
import { Master } from '../../../lib/levels.ts'
import { project } from '../../projects/projects/queries.ts'
import { PublicGroupEntity, presentPublicGroup } from '../groups/entity.ts'
import { listGroupsWithLevel } from '../groups/lists.ts'
import { RELATIONS, listGroupsAround, listInvitedGroups } from './queries.ts'

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/groups',
  summary: 'List the parent groups of a project and the groups it is shared with',
  on: project,
  allow: 'read',
  by: 'visitor',
  input: z.object({
    search: text.nullish(),
    skip_groups: listOf(id).nullish(),
    with_shared: bool.nullish(),
    shared_visible_only: bool.nullish(),
    shared_min_access_level: blankable(int),
  }),
  output: pageOf(PublicGroupEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listGroupsAround(app, subject, input, page)
    return { total, items: items.map((one) => presentPublicGroup(one, app.url)) }
  },
})

export const invited = endpoint({
  method: 'GET',
  path: '/projects/:id/invited_groups',
  summary: 'List the groups that a project or a parent group is shared with',
  on: project,
  allow: 'read',
  by: 'visitor',
  input: z.object({
    search: text.nullish(),
    min_access_level: blankable(int),
    relation: listOf(oneOf(...RELATIONS)).nullish(),
  }),
  output: pageOf(PublicGroupEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listInvitedGroups(app, subject, input, page)
    return { total, items: items.map((one) => presentPublicGroup(one, app.url)) }
  },
})

export const transferLocations = endpoint({
  method: 'GET',
  path: '/projects/:id/transfer_locations',
  summary: 'List the groups a project can be moved into',
  on: project,
  allow: 'own',
  input: z.object({ search: text.nullish() }),
  output: pageOf(PublicGroupEntity),
  async handle({ app, viewer, subject, input, page }) {
    const filter = { ...input, skip_groups: [subject.namespace.id] }
    const { items, total } = await listGroupsWithLevel(app, viewer, Master, filter, page)
    return { total, items: items.map((one) => presentPublicGroup(one, app.url)) }
  },
})
