import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                 anon strg admn blkd
  GET /application/web_settings   200  200  200  401
`,
  {},
)
