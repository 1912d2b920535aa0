import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                               anon strg admn blkd
  GET /namespaces               401  200  200  401
  GET /namespaces/:id           401  200  200  401
  GET /namespaces/:path/exists  401  200  200  401
`,
  {
    'GET /namespaces/:id': { own: (_, who) => ({ id: who.username }) },
    'GET /namespaces/:path/exists': { at: (s) => ({ path: s.group.full_path }) },
  },
)
