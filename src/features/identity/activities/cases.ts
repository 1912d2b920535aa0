import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                       anon strg admn blkd
  GET /user/activities  401  403  200  401
`,
  {
    'GET /user/activities': { scope: 'read_user' },
  },
)
