import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                              anon strg admn blkd
  GET /users/:id/memberships   401  403  200  401
`,
  { 'GET /users/:id/memberships': { at: (s) => ({ id: s.owner.id }) } },
)
