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

/** One of the two, which selects the users. */
const found = { cn: filledText.nullish(), filter: filledText.nullish() }

type Found = z.infer<z.ZodObject<typeof found>>

const isNotBoth = ({ cn, filter }: Found) => !cn || !filter
const BOTH = { message: 'cn, filter are mutually exclusive' }

const isEither = ({ cn, filter }: Found) => Boolean(cn || filter)
/** The contract knows only `cn`, so the error names `cn`, together with the other missing parameters. */
const NEITHER = { path: ['cn'], when: () => true }

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
  summary: 'Create an LDAP group link, by group or filter',
  ...ofGroup,
  input: z
    .object({
      ...found,
      group_access: int.pipe(z.literal([Guest, Reporter, Developer, Master, Owner])),
      provider: filledText,
    })
    .refine(isNotBoth, BOTH)
    .refine(isEither, NEITHER),
  output: DirectoryLinkEntity,
  handle: async ({ app, subject, input }) => presentLink(await addLink(app, subject.group, input)),
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/groups/:id/ldap_group_links',
  summary: 'Delete an LDAP group link, by group or filter',
  ...ofGroup,
  input: z
    .object({ ...found, provider: filledText })
    .refine(isNotBoth, BOTH)
    .refine(isEither, NEITHER),
  output: null,
  handle: ({ app, subject, input }) => removeLinks(app, subject.group, input),
})

export const destroyByName = endpoint({
  method: 'DELETE',
  path: '/groups/:id/ldap_group_links/:cn',
  summary: 'Delete LDAP group links by group name',
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
  summary: 'Schedule LDAP synchronization of a group',
  ...ofGroup,
  output: entity({ message: z.string() }),
  status: 202,
  async handle({ app, subject }) {
    await requestSync(app, subject.group.id)
    return { message: '202 Accepted' }
  },
})
