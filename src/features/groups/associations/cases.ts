import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                               anon strg admn blkd
  GET /personal_access_tokens/self/associations  401  404  404  401
`,
)
