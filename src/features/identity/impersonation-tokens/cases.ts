import { casesOf, type Stage } from '../../../../test/cases.ts'

const newToken = { name: 'x', scopes: ['api'] }

const somebody = (s: Stage) => ({ user_id: s.owner.id })

async function token(s: Stage) {
  const { id } = await s.make(`/users/${s.owner.id}/impersonation_tokens`, newToken, s.forge.administrator)
  return { ...somebody(s), impersonation_token_id: id }
}

export const cases = casesOf(
  `
                                                                      anon strg admn blkd
  GET /users/:user_id/impersonation_tokens                             401  403  200  401
  GET /users/:user_id/impersonation_tokens/:impersonation_token_id     401  403  200  401
  POST /users/:user_id/impersonation_tokens                            401  403  201  401
  DELETE /users/:user_id/impersonation_tokens/:impersonation_token_id  401  403  204  401
`,
  {
    'GET /users/:user_id/impersonation_tokens': { at: somebody, scope: 'secret' },
    'GET /users/:user_id/impersonation_tokens/:impersonation_token_id': { at: token, scope: 'secret' },
    'POST /users/:user_id/impersonation_tokens': { at: somebody, input: newToken },
    'DELETE /users/:user_id/impersonation_tokens/:impersonation_token_id': { at: token },
  },
)
