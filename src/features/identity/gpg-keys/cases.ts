import { generateKey } from 'openpgp'
import { casesOf, type Stage } from '../../../../test/cases.ts'

const newKey = async () => ({
  key: (await generateKey({ type: 'curve25519', userIDs: [{ email: 'jane@example.com' }] })).publicKey,
})

const somebody = (s: Stage) => ({ id: s.owner.id })
const mine = async (s: Stage, { id }: { id: number }) => ({
  key_id: (await s.make(`/users/${id}/gpg_keys`, await newKey(), s.forge.administrator)).id,
})
const theirs = async (s: Stage) => ({ ...somebody(s), ...(await mine(s, s.owner)) })

export const cases = casesOf(
  `
                                          anon strg admn blkd
  GET /user/gpg_keys                       401  200  200  401
  GET /user/gpg_keys/:key_id               401  200  200  401
  POST /user/gpg_keys                      401  201  201  401
  DELETE /user/gpg_keys/:key_id            401  204  204  401
  POST /user/gpg_keys/:key_id/revoke       401  202  202  401
  GET /users/:id/gpg_keys                  401  403  200  401
  GET /users/:id/gpg_keys/:key_id          401  403  200  401
  POST /users/:id/gpg_keys                 401  403  201  401
  DELETE /users/:id/gpg_keys/:key_id       401  403  204  401
  POST /users/:id/gpg_keys/:key_id/revoke  401  403  202  401
`,
  {
    'GET /user/gpg_keys': { scope: 'read_user' },
    'GET /user/gpg_keys/:key_id': { own: mine, scope: 'read_user' },
    'POST /user/gpg_keys': { input: newKey },
    'DELETE /user/gpg_keys/:key_id': { own: mine },
    'POST /user/gpg_keys/:key_id/revoke': { own: mine },
    'GET /users/:id/gpg_keys': { at: somebody, scope: 'read_user' },
    'GET /users/:id/gpg_keys/:key_id': { at: theirs, scope: 'read_user' },
    'POST /users/:id/gpg_keys': { at: somebody, input: newKey },
    'DELETE /users/:id/gpg_keys/:key_id': { at: theirs },
    'POST /users/:id/gpg_keys/:key_id/revoke': { at: theirs },
  },
)
