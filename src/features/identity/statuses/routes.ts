import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { limited, rule } from '../../../api/rules.ts'
import { oneOf, text } from '../../../api/wire.ts'
import { profile } from '../users/queries.ts'
import { UserStatusEntity, presentStatus } from './entity.ts'
import { AVAILABILITIES } from './model.ts'
import { findStatus } from './queries.ts'
import { LASTINGS, changeStatus, setStatus } from './service.ts'

const request = z.object({
  emoji: text.check(rule((name) => /^[\w+-]{0,100}$/.test(name), 'is not a valid emoji name')).nullish(),
  message: limited(text, 100, { codePoints: true }).nullish(),
  availability: oneOf(...AVAILABILITIES).nullish(),
  clear_status_after: oneOf(...LASTINGS).nullish(),
})

export const getOwn = endpoint({
  method: 'GET',
  path: '/user/status',
  summary: 'Get the status of the signed-in user',
  allow: 'signed_in',
  scopes: ['read_user'],
  output: UserStatusEntity,
  handle: async ({ app, viewer }) => presentStatus(await findStatus(app, viewer)),
})

export const get = endpoint({
  method: 'GET',
  path: '/users/:user_id/status',
  summary: 'Get the status of a user',
  on: profile,
  by: 'visitor',
  allow: 'anyone',
  scopes: ['read_user'],
  output: UserStatusEntity,
  handle: async ({ app, subject }) => presentStatus(await findStatus(app, subject.user)),
})

export const set = endpoint({
  method: 'PUT',
  path: '/user/status',
  summary: 'Set the status of the signed-in user',
  allow: 'signed_in',
  input: request,
  output: UserStatusEntity,
  handle: async ({ app, viewer, input }) => presentStatus(await setStatus(app, viewer, input)),
})

export const change = endpoint({
  method: 'PATCH',
  path: '/user/status',
  summary: 'Update parts of the status of the signed-in user',
  allow: 'signed_in',
  input: request,
  output: UserStatusEntity,
  handle: async ({ app, viewer, input }) => presentStatus(await changeStatus(app, viewer, input)),
})
