import { Authenticator } from '../../../../test/authenticator.ts'
import { casesOf, type Stage } from '../../../../test/cases.ts'
import { timestamp } from '../../../clock.ts'
import type { Person } from '../../../forge.ts'

const mine = async ({ forge: { app } }: Stage, { id }: Person) => {
  const row = {
    user_id: id,
    name: 'Laptop',
    credential_id: new Authenticator(app.url).id.toString('base64url'),
    public_key: '',
    counter: 0,
    transports: '[]',
    created_at: timestamp(app.clock),
  }
  const { id: passkey_id } = await app.db.insertInto('passkeys').values(row).returning('id').executeTakeFirstOrThrow()
  return { passkey_id }
}

const credential = {
  id: 'x',
  rawId: 'x',
  type: 'public-key',
  response: { clientDataJSON: 'x', attestationObject: 'x' },
}

export const cases = casesOf(
  `
                                     anon strg admn blkd
  GET /user/passkeys                  401  200  200  401
  POST /user/passkeys/options         401  403  400  401
  POST /user/passkeys                 401  400  400  401
  PUT /user/passkeys/:passkey_id      401  200  200  401
  DELETE /user/passkeys/:passkey_id   401  403  400  401
`,
  {
    'POST /user/passkeys/options': { input: { password: 'a wrong one' } },
    'POST /user/passkeys': { input: { ticket: 'none', name: 'Laptop', credential } },
    'PUT /user/passkeys/:passkey_id': { own: mine, input: { name: 'Phone' } },
    'DELETE /user/passkeys/:passkey_id': { own: mine, input: { password: 'a wrong one' } },
  },
)
