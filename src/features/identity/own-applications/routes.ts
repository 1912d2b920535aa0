import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { bool, text } from '../../../api/wire.ts'
import { ownScope, userScopes } from '../user-scopes.ts'
import { deleteApplication, type WithSecret } from '../oauth/service.ts'
import { OwnApplicationEntity, OwnApplicationWithSecretEntity, presentOwnApplication } from './entity.ts'
import { listOwnApplications, ownApplication } from './queries.ts'
import { changeOwnApplication, registerApplication, renewOwnSecret } from './service.ts'

const presentWithSecret = ({ application, secret }: WithSecret) => ({ ...presentOwnApplication(application), secret })

export const [listOwn, list] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/applications`,
    summary: `List the OAuth applications ${scope.whose}`,
    on: scope.resource,
    allow: scope.allow,
    output: pageOf(OwnApplicationEntity),
    async handle({ app, subject, page }) {
      const { items, total } = await listOwnApplications(app.db, subject.owner, page)
      return { total, items: items.map(presentOwnApplication) }
    },
  }),
)

export const getOwn = endpoint({
  method: 'GET',
  path: '/user/applications/:application_id',
  summary: 'Get an OAuth application of the signed-in user',
  on: ownApplication(ownScope),
  allow: 'signed_in',
  output: OwnApplicationEntity,
  handle: async ({ subject }) => presentOwnApplication(subject.application),
})

export const createOwn = endpoint({
  method: 'POST',
  path: '/user/applications',
  summary: 'Register an OAuth application of the signed-in user',
  on: ownScope.resource,
  allow: 'signed_in',
  alsoAsks: ['register applications, by the settings of the instance'],
  input: z.object({ name: text, redirect_uri: text, scopes: text, confidential: bool.nullish() }),
  output: OwnApplicationWithSecretEntity,
  async handle({ app, subject, input }) {
    const request = { ...input, confidential: input.confidential ?? true }
    return presentWithSecret(await registerApplication(app, subject.owner, request))
  },
})

export const updateOwn = endpoint({
  method: 'PUT',
  path: '/user/applications/:application_id',
  summary: 'Update an OAuth application of the signed-in user',
  on: ownApplication(ownScope),
  allow: 'signed_in',
  alsoAsks: ['register applications, by the settings of the instance'],
  input: z.object({
    name: text.nullish(),
    redirect_uri: text.nullish(),
    scopes: text.nullish(),
    confidential: bool.nullish(),
  }),
  output: OwnApplicationEntity,
  handle: async ({ app, subject, input }) =>
    presentOwnApplication(await changeOwnApplication(app, subject.application, input)),
})

export const renewOwn = endpoint({
  method: 'POST',
  path: '/user/applications/:application_id/renew-secret',
  summary: 'Renew the secret of an OAuth application of the signed-in user',
  on: ownApplication(ownScope),
  allow: 'signed_in',
  alsoAsks: ['register applications, by the settings of the instance'],
  output: OwnApplicationWithSecretEntity,
  handle: async ({ app, subject }) => presentWithSecret(await renewOwnSecret(app, subject.application)),
})

export const [destroyOwn, destroy] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/applications/:application_id`,
    summary: `Delete an OAuth application ${scope.whose} with its tokens`,
    on: ownApplication(scope),
    allow: scope.allow,
    changedAt: ({ application }) => application.updated_at,
    output: null,
    handle: ({ app, subject }) => deleteApplication(app, subject.application),
  }),
)
