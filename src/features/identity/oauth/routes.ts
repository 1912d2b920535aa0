import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { bool, text } from '../../../api/wire.ts'
import { ApplicationEntity, ApplicationWithSecretEntity, presentApplication } from './entity.ts'
import { application, listApplications } from './queries.ts'
import { createApplication, deleteApplication, renewSecret, type WithSecret } from './service.ts'

const presentWithSecret = ({ application, secret }: WithSecret) => ({ ...presentApplication(application), secret })

export const create = endpoint({
  method: 'POST',
  path: '/applications',
  summary: 'Register an OAuth application',
  ...administratorsFirst,
  input: z.object({ name: text, redirect_uri: text, scopes: text, confidential: bool.nullish() }),
  output: ApplicationWithSecretEntity,
  async handle({ app, input }) {
    return presentWithSecret(await createApplication(app, { ...input, confidential: input.confidential ?? true }))
  },
})

export const list = endpoint({
  method: 'GET',
  path: '/applications',
  summary: 'List OAuth applications',
  ...administratorsFirst,
  output: z.array(ApplicationEntity),
  async handle({ app }) {
    return (await listApplications(app.db)).map(presentApplication)
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/applications/:id',
  summary: 'Delete an OAuth application with its tokens',
  on: application,
  ...administratorsFirst,
  changedAt: ({ application }) => application.updated_at,
  output: null,
  async handle({ app, subject }) {
    await deleteApplication(app, subject.application)
  },
})

export const renew = endpoint({
  method: 'POST',
  path: '/applications/:id/renew-secret',
  summary: 'Renew the secret of an OAuth application',
  on: application,
  ...administratorsFirst,
  output: ApplicationWithSecretEntity,
  async handle({ app, subject }) {
    return presentWithSecret(await renewSecret(app, subject.application))
  },
})
