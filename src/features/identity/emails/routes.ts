import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { bool, text } from '../../../api/wire.ts'
import { administratorsScope, ownScope, userScopes } from '../user-scopes.ts'
import { EmailEntity, presentEmail } from './entity.ts'
import { email, listEmails } from './queries.ts'
import { createEmail, deleteEmail } from './service.ts'

export const [listOwn, list] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/emails`,
    summary: `List the secondary emails ${scope.whose}`,
    on: scope.resource,
    allow: scope.allow,
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
  on: email(ownScope),
  allow: 'signed_in',
  scopes: ['read_user'],
  output: EmailEntity,
  handle: async ({ subject }) => presentEmail(subject.email),
})

export const createOwn = endpoint({
  method: 'POST',
  path: '/user/emails',
  summary: 'Add a secondary email of the signed-in user',
  on: ownScope.resource,
  allow: 'signed_in',
  input: z.object({ email: text }),
  output: EmailEntity,
  handle: async ({ app, subject, input }) => presentEmail(await createEmail(app, subject.owner, input)),
})

export const create = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/emails',
  summary: 'Add a secondary email of a user, confirmed or pending confirmation',
  on: administratorsScope.resource,
  allow: 'administrator',
  input: z.object({ email: text, skip_confirmation: bool.nullish() }),
  output: EmailEntity,
  async handle({ app, subject, input: { email, skip_confirmation } }) {
    const request = { email, skip_confirmation: skip_confirmation ?? false, byAdministrator: true }
    return presentEmail(await createEmail(app, subject.owner, request))
  },
})

export const [destroyOwn, destroy] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/emails/:email_id`,
    summary: `Delete a secondary email ${scope.whose}`,
    on: email(scope),
    allow: scope.allow,
    changedAt: ({ email }) => email.updated_at,
    output: null,
    handle: ({ app, subject }) => deleteEmail(app, subject.owner, subject.email),
  }),
)
