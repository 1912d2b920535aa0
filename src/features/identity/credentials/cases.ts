import { digestOf, randomHex } from '../../../lib/crypto/secrets.ts'
import { casesOf, type Stage } from '../../../../test/cases.ts'

const somebody = (s: Stage) => ({ id: s.owner.id })
const newcomer = async (s: Stage) => ({ id: (await s.newcomer()).id })

async function sessionOf({ forge: { app } }: Stage, { id }: { id: number }) {
  const now = app.clock.now().toISOString()
  const session = await app.db
    .insertInto('sessions')
    .values({ user_id: id, digest: digestOf(randomHex()), expires_at: '2100-01-01T00:00:00.000Z', created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { session_id: session.id }
}

async function oauthTokenOf({ forge: { app } }: Stage, { id }: { id: number }) {
  const token = await app.db
    .insertInto('oauth_tokens')
    .values({ user_id: id, digest: digestOf(randomHex()), scopes: 'api', created_at: app.clock.now().toISOString() })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { oauth_token_id: token.id }
}

const table = casesOf(
  `
                                                         anon strg admn blkd
  GET /user/sessions                                     401  200  200  401
  GET /users/:id/sessions                                401  403  200  401
  DELETE /user/sessions/:session_id                      401  204  204  401
  DELETE /user/sessions/:session_id (another’s)          401  404  404  401
  DELETE /users/:id/sessions/:session_id                 401  403  204  401
  GET /user/oauth_tokens                                 401  200  200  401
  GET /users/:id/oauth_tokens                            401  403  200  401
  DELETE /user/oauth_tokens/:oauth_token_id              401  204  204  401
  DELETE /user/oauth_tokens/:oauth_token_id (another’s)  401  404  404  401
  DELETE /users/:id/oauth_tokens/:oauth_token_id         401  403  204  401
  POST /users/:id/private_token/rotate                   401  403  204  401
  POST /users/:id/revoke_credentials                     401  403  200  401
`,
  {
    'GET /users/:id/sessions': { at: somebody },
    'DELETE /user/sessions/:session_id': { own: sessionOf },
    'DELETE /user/sessions/:session_id (another’s)': { at: (s) => sessionOf(s, s.owner) },
    'DELETE /users/:id/sessions/:session_id': {
      at: async (s) => ({ ...somebody(s), ...(await sessionOf(s, s.owner)) }),
    },
    'GET /users/:id/oauth_tokens': { at: somebody },
    'DELETE /user/oauth_tokens/:oauth_token_id': { own: oauthTokenOf },
    'DELETE /user/oauth_tokens/:oauth_token_id (another’s)': { at: (s) => oauthTokenOf(s, s.owner) },
    'DELETE /users/:id/oauth_tokens/:oauth_token_id': {
      at: async (s) => ({ ...somebody(s), ...(await oauthTokenOf(s, s.owner)) }),
    },
    'POST /users/:id/private_token/rotate': { at: newcomer },
    'POST /users/:id/revoke_credentials': { at: newcomer, input: { keys: true } },
  },
)

/** After a success the caller cannot use any other endpoint, so `credentials.test.ts` covers it. */
const ending = casesOf(`
                                  anon blkd
  POST /user/private_token/rotate  401  401
  POST /user/revoke_credentials    401  401
`)

export const cases = [...table, ...ending]
