import { casesOf, type Stage } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                              anon strg admn blkd
  GET /user/status             401  200  200  401
  GET /users/:user_id/status   200  200  200  401
  PUT /user/status             401  200  200  401
  PATCH /user/status           401  200  200  401
`,
  {
    'GET /user/status': { scope: 'read_user' },
    'GET /users/:user_id/status': { at: (s: Stage) => ({ user_id: s.owner.username }), scope: 'read_user' },
    'PUT /user/status': { input: { message: 'away' } },
    'PATCH /user/status': { input: { message: 'back' } },
  },
)
