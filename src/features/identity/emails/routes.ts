import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import { ownMount, atBothMounts } from '../belongings.ts'
import { EmailEntity, presentEmail } from './entity.ts'
import { email, listEmails } from './queries.ts'
import { createEmail, deleteEmail } from './service.ts'

export const [listOwn, list] = atBothMounts((mount) =>
  endpoint({
    method: 'GET',
    path: `${mount.path}/emails`,
    summary: `List the secondary emails ${mount.whose}`,
    on: mount.owner,
    allow: mount.allow,
    scopes: ['read_user'],
    output: pageOf(EmailEntity),
    async handle({ app, subject, page }) {
      const { items, total } = await listEmails(app.db, subject.owner, page)
      return { total, items: items.map(presentEmail) }
    },
  }),
)

export const getOwn = endpoint({
  method: 'GET',
  path: '/user/emails/:email_id',
  summary: 'Get a secondary email of the signed-in user',
  on: email(ownMount),
  allow: 'signed_in',
  scopes: ['read_user'],
  output: EmailEntity,
  handle: async ({ subject }) => presentEmail(subject.email),
})

export const [createOwn, create] = atBothMounts((mount) =>
  endpoint({
    method: 'POST',
    path: `${mount.path}/emails`,
    summary: `Add a secondary email ${mount.whose}`,
    on: mount.owner,
    allow: mount.allow,
    input: z.object({ email: text }),
    output: EmailEntity,
    handle: async ({ app, subject, input }) => presentEmail(await createEmail(app, subject.owner, input)),
  }),
)

export const [destroyOwn, destroy] = atBothMounts((mount) =>
  endpoint({
    method: 'DELETE',
    path: `${mount.path}/emails/:email_id`,
    summary: `Delete a secondary email ${mount.whose}`,
    on: email(mount),
    allow: mount.allow,
    changedAt: ({ email }) => email.updated_at,
    output: null,
    handle: ({ app, subject }) => deleteEmail(app, subject.owner, subject.email),
  }),
)
