import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(`
                               anon strg admn blkd
  GET /application/statistics   401  403  200  401
  GET /application/storage      401  403  200  401
`)
