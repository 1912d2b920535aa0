import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                    anon strg admn blkd
  GET /user_counts   401  200  200  401
`,
  { 'GET /user_counts': { scope: 'read_user' } },
)
