import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(`
                           anon strg admn blkd
  GET /application/backup   401  403  200  401
`)
