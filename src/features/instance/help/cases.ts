import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                         anon strg admn blkd
  GET /application/help   200  200  200  401
`,
  {},
)
