import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import { ownDoor, throughBothDoors } from '../belongings.ts'
import { EmailEntity, presentEmail } from './entity.ts'
import { email, listEmails } from './queries.ts'
import { createEmail, deleteEmail } from './service.ts'

export const [listOwn, list] = throughBothDoors((door) =>
  endpoint({
    method: 'GET',
    path: `${door.path}/emails`,
    summary: `List the secondary emails ${door.whose}`,
    on: door.owner,
    allow: door.allow,
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
  on: ownDoor.record(email),
  allow: 'signed_in',
  scopes: ['read_user'],
  output: EmailEntity,
  handle: async ({ subject }) => presentEmail(subject.record),
})

export const [createOwn, create] = throughBothDoors((door) =>
  endpoint({
    method: 'POST',
    path: `${door.path}/emails`,
    summary: `Add a secondary email ${door.whose}`,
    on: door.owner,
    allow: door.allow,
    input: z.object({ email: text }),
    output: EmailEntity,
    handle: async ({ app, subject, input }) => presentEmail(await createEmail(app, subject.owner, input)),
  }),
)

export const [destroyOwn, destroy] = throughBothDoors((door) =>
  endpoint({
    method: 'DELETE',
    path: `${door.path}/emails/:email_id`,
    summary: `Delete a secondary email ${door.whose}`,
    on: door.record(email),
    allow: door.allow,
    changedAt: ({ record }) => record.updated_at,
    output: null,
    handle: ({ app, subject }) => deleteEmail(app, subject.owner, subject.record),
  }),
)
