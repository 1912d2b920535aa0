import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { entity, filledText, int } from '../../../api/wire.ts'
import { Developer, Guest, Master, Owner, Reporter } from '../../../lib/levels.ts'
import { group } from '../groups/queries.ts'
import { DirectoryLinkEntity, presentLink } from './entity.ts'
import { requestSync } from './jobs.ts'
import { listLinks } from './queries.ts'
import { addLink, removeLinks } from './service.ts'

const ofGroup = { on: group, allow: 'own' } as const

export const list = endpoint({
  method: 'GET',
  path: '/groups/:id/ldap_group_links',
  summary: 'List the directory groups a group is linked with',
  ...ofGroup,
  output: pageOf(DirectoryLinkEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listLinks(app.db, subject.group.id, page)
    return { total, items: items.map(presentLink) }
  },
})

export const create = endpoint({
  method: 'POST',
  path: '/groups/:id/ldap_group_links',
  summary: 'Link a group with a directory group, whose members get at least the level of the link',
  ...ofGroup,
  input: z.object({
    cn: filledText,
    group_access: int.pipe(z.literal([Guest, Reporter, Developer, Master, Owner])),
    provider: filledText,
  }),
  output: DirectoryLinkEntity,
  handle: async ({ app, subject, input }) => presentLink(await addLink(app, subject.group, input)),
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/groups/:id/ldap_group_links',
  summary: 'Delete the link with a group of one directory, both named in the query',
  ...ofGroup,
  input: z.object({ cn: filledText, provider: filledText }),
  output: null,
  handle: ({ app, subject, input }) => removeLinks(app, subject.group, input),
})

export const destroyNamed = endpoint({
  method: 'DELETE',
  path: '/groups/:id/ldap_group_links/:cn',
  summary: 'Delete the links with the groups of this name, in every directory or in one',
  ...ofGroup,
  input: z.object({ cn: filledText, provider: filledText.nullish() }),
  output: null,
  handle: ({ app, subject, input }) => removeLinks(app, subject.group, input),
})

export const destroyAt = endpoint({
  method: 'DELETE',
  path: '/groups/:id/ldap_group_links/:provider/:cn',
  summary: 'Delete the link with a group of one directory',
  ...ofGroup,
  input: z.object({ cn: filledText, provider: filledText }),
  output: null,
  handle: ({ app, subject, input }) => removeLinks(app, subject.group, input),
})

export const sync = endpoint({
  method: 'POST',
  path: '/groups/:id/ldap_sync',
  summary: 'Bring the members of a group in line with its directory groups, soon',
  ...ofGroup,
  output: entity({ message: z.string() }),
  status: 202,
  async handle({ app, subject }) {
    await requestSync(app, subject.group.id)
    return { message: '202 Accepted' }
  },
})
