import { casesOf, type Stage } from '../../../../test/cases.ts'

const newToken = { name: 'x', scopes: ['api'] }

const mine = async (s: Stage, { id }: { id: number }) => ({
  id: (await s.make(`/users/${id}/personal_access_tokens`, newToken, s.forge.administrator)).id,
})
const theirs = (s: Stage) => mine(s, s.owner)

export const cases = casesOf(
  `
                                                 anon strg admn blkd
  GET /personal_access_tokens                     401  200  200  401
  GET /personal_access_tokens/:id                 401  200  200  401
  GET /personal_access_tokens/:id (another’s)     401  401  200  401
  GET /personal_access_tokens/self                401  404  404  401
  DELETE /personal_access_tokens/self             401  404  404  401
  POST /personal_access_tokens/self/rotate        401  404  404  401
  POST /personal_access_tokens/:id/rotate         401  200  200  401
  DELETE /personal_access_tokens/:id              401  204  204  401
  DELETE /personal_access_tokens/:id (another’s)  401  401  204  401
  POST /user/personal_access_tokens               401  201  201  401
  POST /users/:user_id/personal_access_tokens     401  403  201  401
`,
  {
    'GET /personal_access_tokens/:id': { own: mine },
    'GET /personal_access_tokens/:id (another’s)': { at: theirs },
    // These callers use private tokens, not tokens of this kind.
    'GET /personal_access_tokens/self': { scope: 'any' },
    'DELETE /personal_access_tokens/self': { scope: 'any' },
    'POST /personal_access_tokens/self/rotate': { input: { expires_at: '2100-01-01' } },
    'POST /personal_access_tokens/:id/rotate': { own: mine, input: { expires_at: '2100-01-01' } },
    'DELETE /personal_access_tokens/:id': { own: mine },
    'DELETE /personal_access_tokens/:id (another’s)': { at: theirs },
    'POST /user/personal_access_tokens': { input: newToken },
    'POST /users/:user_id/personal_access_tokens': { at: (s) => ({ user_id: s.owner.id }), input: newToken },
  },
)
