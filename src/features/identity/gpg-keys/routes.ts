import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { filled } from '../../../api/rules.ts'
import { entity, longText } from '../../../api/wire.ts'
import { userScopes } from '../user-scopes.ts'
import { GpgKeyEntity, presentGpgKey } from './entity.ts'
import { gpgKey, listGpgKeys } from './queries.ts'
import { createGpgKey, deleteGpgKey } from './service.ts'

export const [listOwn, list] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/gpg_keys`,
    summary: `List the GPG keys ${scope.whose}`,
    on: scope.resource,
    allow: scope.allow,
    scopes: ['read_user'],
    output: pageOf(GpgKeyEntity),
    async handle({ app, subject, page }) {
      const { items, total } = await listGpgKeys(app.db, subject.owner, page)
      return { total, items: items.map(presentGpgKey) }
    },
  }),
)

export const [getOwn, get] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/gpg_keys/:key_id`,
    summary: `Get a GPG key ${scope.whose}`,
    on: gpgKey(scope),
    allow: scope.allow,
    scopes: ['read_user'],
    output: GpgKeyEntity,
    handle: async ({ subject }) => presentGpgKey(subject.key),
  }),
)

export const [createOwn, create] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/gpg_keys`,
    summary: `Add a GPG key ${scope.whose}`,
    on: scope.resource,
    allow: scope.allow,
    input: z.object({ key: filled(longText) }), // the contract also lists a key_id, which a new key cannot have yet
    output: GpgKeyEntity,
    handle: async ({ app, subject, input }) => presentGpgKey(await createGpgKey(app, subject.owner, input)),
  }),
)

export const [destroyOwn, destroy] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/gpg_keys/:key_id`,
    summary: `Delete a GPG key ${scope.whose}; signed commits stay verified`,
    on: gpgKey(scope),
    allow: scope.allow,
    output: null,
    handle: ({ app, subject }) => deleteGpgKey(app, subject.owner, subject.key, { revoked: false }),
  }),
)

export const [revokeOwn, revoke] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/gpg_keys/:key_id/revoke`,
    summary: `Revoke a GPG key ${scope.whose}; signed commits become unverified`,
    on: gpgKey(scope),
    allow: scope.allow,
    status: 202,
    output: entity({ message: z.literal('202 Accepted') }),
    async handle({ app, subject }) {
      await deleteGpgKey(app, subject.owner, subject.key, { revoked: true })
      return { message: '202 Accepted' } as const
    },
  }),
)
