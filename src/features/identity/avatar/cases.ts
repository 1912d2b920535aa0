import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
               anon strg admn blkd
  GET /avatar   200  200  200  401
`,
  { 'GET /avatar': { input: { email: 'jane@example.com' } } },
)
