import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                            anon strg admn blkd
  GET /application/settings  401  403  200  401
  PUT /application/settings  401  403  200  401
`,
  {
    'GET /application/settings': { scope: 'secret' },
    'PUT /application/settings': { input: { signup_enabled: true } },
  },
)
