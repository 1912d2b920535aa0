import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                               anon strg admn blkd
  GET /user/feed_token          401  200  200  401
  POST /user/feed_token/rotate  401  200  200  401
`,
  { 'GET /user/feed_token': { scope: 'secret' } },
)
