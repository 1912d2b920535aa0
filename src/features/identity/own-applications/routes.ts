import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, text } from '../../../api/wire.ts'
import { atBothMounts, ownMount } from '../belongings.ts'
import { deleteApplication, type WithSecret } from '../oauth/service.ts'
import { OwnApplicationEntity, OwnApplicationWithSecretEntity, presentOwnApplication } from './entity.ts'
import { listOwnApplications, ownApplication } from './queries.ts'
import { changeOwnApplication, registerApplication, renewOwnSecret } from './service.ts'

const presentWithSecret = ({ application, secret }: WithSecret) => ({ ...presentOwnApplication(application), secret })

export const [listOwn, list] = atBothMounts((mount) =>
  endpoint({
    method: 'GET',
    path: `${mount.path}/applications`,
    summary: `List the OAuth applications ${mount.whose}`,
    on: mount.owner,
    allow: mount.allow,
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
  on: ownApplication(ownMount),
  allow: 'signed_in',
  output: OwnApplicationEntity,
  handle: async ({ subject }) => presentOwnApplication(subject.application),
})

export const createOwn = endpoint({
  method: 'POST',
  path: '/user/applications',
  summary: 'Register an OAuth application of the signed-in user',
  on: ownMount.owner,
  allow: 'signed_in',
  input: z.object({ name: text, redirect_uri: text, scopes: text, confidential: bool.nullish() }),
  output: OwnApplicationWithSecretEntity,
  async handle({ app, subject, input }) {
    const wish = { ...input, confidential: input.confidential ?? true }
    return presentWithSecret(await registerApplication(app, subject.owner, wish))
  },
})

export const updateOwn = endpoint({
  method: 'PUT',
  path: '/user/applications/:application_id',
  summary: 'Change an OAuth application of the signed-in user',
  on: ownApplication(ownMount),
  allow: 'signed_in',
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
  summary: 'Give an OAuth application of the signed-in user a new secret',
  on: ownApplication(ownMount),
  allow: 'signed_in',
  output: OwnApplicationWithSecretEntity,
  handle: async ({ app, subject }) => presentWithSecret(await renewOwnSecret(app, subject.application)),
})

export const [destroyOwn, destroy] = atBothMounts((mount) =>
  endpoint({
    method: 'DELETE',
    path: `${mount.path}/applications/:application_id`,
    summary: `Delete an OAuth application ${mount.whose} with its tokens`,
    on: ownApplication(mount),
    allow: mount.allow,
    changedAt: ({ application }) => application.updated_at,
    output: null,
    handle: ({ app, subject }) => deleteApplication(app, subject.application),
  }),
)
