import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                             anon strg admn blkd
  GET /user/second_factor                     401  200  200  401
  POST /user/second_factor                    401  403  400  401
  POST /user/second_factor/confirm            401  400  400  401
  POST /user/second_factor/recovery_codes     401  404  404  401
  DELETE /user/second_factor                  401  404  404  401
  PATCH /users/:user_id/disable_two_factor    401  403  204  401
`,
  {
    'POST /user/second_factor': { input: () => ({ password: 'a wrong one' }) },
    'POST /user/second_factor/confirm': { input: () => ({ code: '123456' }) },
    'POST /user/second_factor/recovery_codes': { input: () => ({ code: '123456' }) },
    'DELETE /user/second_factor': { input: () => ({ code: '123456' }) },
    'PATCH /users/:user_id/disable_two_factor': { at: async (s) => ({ user_id: (await s.newcomer()).id }) },
  },
)
