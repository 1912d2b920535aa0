import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { blankable, moment, oneOf, text } from '../../../api/wire.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { userScopes } from '../user-scopes.ts'
import { surroundings } from '../users/queries.ts'
import { KeyEntity, KeyWithUserEntity, presentDeployments, presentKey, presentKeyWithUser } from './entity.ts'
import { USAGE_TYPES } from './model.ts'
import {
  anyKey,
  deploymentsOf,
  findKeyByFingerprint,
  key,
  listKeys,
  loadKeyWithUser,
  readFingerprint,
} from './queries.ts'
import { createKey, deleteKey } from './service.ts'

export const [listOwn, list] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/keys`,
    summary: `List the SSH keys ${scope.whose}`,
    on: scope.resource,
    allow: scope.allow,
    scopes: ['read_user'],
    output: pageOf(KeyEntity),
    async handle({ app, subject, page }) {
      const { items, total } = await listKeys(app.db, subject.owner, page)
      return { total, items: items.map(presentKey) }
    },
  }),
)

export const [getOwn, get] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/keys/:key_id`,
    summary: `Get an SSH key ${scope.whose}`,
    on: key(scope),
    allow: scope.allow,
    scopes: ['read_user'],
    output: KeyEntity,
    handle: async ({ subject }) => presentKey(subject.key),
  }),
)

export const [createOwn, create] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/keys`,
    summary: `Add an SSH key ${scope.whose}`,
    on: scope.resource,
    allow: scope.allow,
    input: z.object({
      title: text,
      key: text,
      expires_at: blankable(moment),
      usage_type: oneOf(...USAGE_TYPES).nullish(),
    }),
    output: KeyEntity,
    handle: async ({ app, subject, input }) => presentKey(await createKey(app, subject.owner, input)),
  }),
)

export const [destroyOwn, destroy] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/keys/:key_id`,
    summary: `Delete an SSH key ${scope.whose}`,
    on: key(scope),
    allow: scope.allow,
    changedAt: ({ key }) => key.updated_at,
    output: null,
    handle: ({ app, subject }) => deleteKey(app, subject.owner, subject.key),
  }),
)

export const lookUp = endpoint({
  method: 'GET',
  path: '/keys/:id',
  summary: 'Get any SSH key with its owner',
  on: anyKey,
  ...administratorsFirst,
  output: KeyWithUserEntity,
  async handle({ app, subject }) {
    return presentKeyWithUser(await loadKeyWithUser(app.db, subject.key), await surroundings(app))
  },
})

export const lookUpByFingerprint = endpoint({
  method: 'GET',
  path: '/keys',
  summary: 'Find an SSH key with its owner by fingerprint',
  ...administratorsFirst,
  input: z.object({ fingerprint: text }),
  output: KeyWithUserEntity,
  async handle({ app, input }) {
    const fingerprint = readFingerprint(input.fingerprint)
    if (!fingerprint) throw new Refusal('bad_request', 'Failed to return the key')
    const found = await findKeyByFingerprint(app.db, fingerprint)
    if (!found) throw notFound('Key')
    const record = presentKeyWithUser(await loadKeyWithUser(app.db, found), await surroundings(app))
    if (found.kind !== 'deploy') return record
    return { ...record, deploy_keys_projects: presentDeployments(await deploymentsOf(app.db, found)) }
  },
})
