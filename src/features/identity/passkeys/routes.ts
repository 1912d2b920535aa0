import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { filledText, text } from '../../../api/wire.ts'
import { ownScope } from '../user-scopes.ts'
import { registered } from './credential.ts'
import { NewPasskeyEntity, PasskeyEntity, PasskeyOptionsEntity, presentPasskey } from './entity.ts'
import { listPasskeys, passkey } from './queries.ts'
import { beginPasskey, deletePasskey, registerPasskey, renamePasskey } from './service.ts'

const proof = z.object({ password: text.nullish(), code: text.nullish() })

export const list = endpoint({
  method: 'GET',
  path: '/user/passkeys',
  summary: 'List the passkeys of the signed-in user',
  on: ownScope.resource,
  allow: 'signed_in',
  duringRequiredStep: true,
  output: pageOf(PasskeyEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listPasskeys(app.db, subject.owner, page)
    return { total, items: items.map(presentPasskey) }
  },
})

export const begin = endpoint({
  method: 'POST',
  path: '/user/passkeys/options',
  summary: 'Start adding a passkey, with the password or a code',
  allow: 'signed_in',
  inPerson: true,
  duringRequiredStep: true,
  input: proof,
  output: PasskeyOptionsEntity,
  async handle({ app, viewer, input }) {
    return beginPasskey(app, viewer, input)
  },
})

export const create = endpoint({
  method: 'POST',
  path: '/user/passkeys',
  summary: 'Add a passkey; the first passkey also returns recovery codes',
  allow: 'signed_in',
  inPerson: true,
  duringRequiredStep: true,
  input: z.object({ ticket: filledText, name: filledText, credential: registered }),
  output: NewPasskeyEntity,
  async handle({ app, viewer, input }) {
    const { passkey, codes } = await registerPasskey(app, viewer, input)
    return { ...presentPasskey(passkey), recovery_codes: codes }
  },
})

export const update = endpoint({
  method: 'PUT',
  path: '/user/passkeys/:passkey_id',
  summary: 'Rename a passkey of the signed-in user',
  on: passkey,
  allow: 'signed_in',
  duringRequiredStep: true,
  input: z.object({ name: filledText }),
  output: PasskeyEntity,
  handle: async ({ app, subject, input }) => presentPasskey(await renamePasskey(app, subject.passkey, input.name)),
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/user/passkeys/:passkey_id',
  summary: 'Delete a passkey of the signed-in user, with the password or a code',
  on: passkey,
  allow: 'signed_in',
  inPerson: true,
  duringRequiredStep: true,
  input: proof,
  output: null,
  async handle({ app, viewer, subject, input }) {
    await deletePasskey(app, viewer, subject.passkey, input)
  },
})
