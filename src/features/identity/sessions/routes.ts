import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import { privateTokenOf } from '../tokens/queries.ts'
import { OwnUserEntity, presentOwnUser } from '../users/entity.ts'
import { loadUser, surroundings } from '../users/queries.ts'
import { signIn } from './service.ts'

export const create = endpoint({
  method: 'POST',
  path: '/session',
  summary: 'Exchange a password for the account record with its private token',
  by: 'visitor',
  allow: 'anyone',
  readsOnly: true,
  input: z
    .object({ login: text.nullish(), email: text.nullish(), password: text })
    .refine(({ login, email }) => login || email, {
      message: 'login, email are missing, at least one parameter must be provided',
    }),
  output: OwnUserEntity,
  async handle({ app, caller, input: { login, email, password } }) {
    const user = await signIn(app, { login: login || email || '', password, address: caller.address })
    const own = await loadUser(app.db, user)
    return presentOwnUser(own, await surroundings(app), await privateTokenOf(app, user))
  },
})
