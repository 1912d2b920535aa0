import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                anon strg admn blkd
  GET /version   401  200  200  401
  GET /metadata  401  200  200  401
`,
  {
    'GET /version': { scope: 'read_user' },
    'GET /metadata': { scope: 'read_user' },
  },
)
