import { randomHex } from '../../../lib/crypto/secrets.ts'
import { casesOf, type Stage } from '../../../../test/cases.ts'

const newApplication = { name: 'x', redirect_uri: 'https://app.example', scopes: 'api' }

const somebody = (s: Stage) => ({ id: s.owner.id })

async function mine({ forge: { app } }: Stage, { id }: { id: number }) {
  const now = app.clock.now().toISOString()
  const application = await app.db
    .insertInto('oauth_applications')
    .values({
      uid: randomHex(),
      secret_digest: randomHex(),
      ...newApplication,
      confidential: true,
      trusted: false,
      owner_id: id,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { application_id: application.id }
}

const theirs = (s: Stage) => mine(s, s.owner)

export const cases = casesOf(
  `
                                                                  anon strg admn blkd
  GET /user/applications                                          401  200  200  401
  GET /user/applications/:application_id                          401  200  200  401
  GET /user/applications/:application_id (another’s)              401  404  404  401
  POST /user/applications                                         401  201  201  401
  PUT /user/applications/:application_id                          401  200  200  401
  PUT /user/applications/:application_id (another’s)              401  404  404  401
  POST /user/applications/:application_id/renew-secret            401  201  201  401
  POST /user/applications/:application_id/renew-secret (another’s)  401  404  404  401
  DELETE /user/applications/:application_id                       401  204  204  401
  DELETE /user/applications/:application_id (another’s)           401  404  404  401
  GET /users/:id/applications                                     401  403  200  401
  DELETE /users/:id/applications/:application_id                  401  403  204  401
`,
  {
    'GET /user/applications/:application_id': { own: mine },
    'GET /user/applications/:application_id (another’s)': { at: theirs },
    'POST /user/applications': { input: newApplication },
    'PUT /user/applications/:application_id': { own: mine, input: { name: 'y' } },
    'PUT /user/applications/:application_id (another’s)': { at: theirs, input: { name: 'y' } },
    'POST /user/applications/:application_id/renew-secret': { own: mine },
    'POST /user/applications/:application_id/renew-secret (another’s)': { at: theirs },
    'DELETE /user/applications/:application_id': { own: mine },
    'DELETE /user/applications/:application_id (another’s)': { at: theirs },
    'GET /users/:id/applications': { at: somebody },
    'DELETE /users/:id/applications/:application_id': { at: async (s) => ({ ...somebody(s), ...(await theirs(s)) }) },
  },
)
