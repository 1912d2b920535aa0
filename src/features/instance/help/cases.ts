import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                      anon strg admn blkd
  GET /application/help                200  200  200  401
  GET /application/help/pages/:page    200  200  200  401
  GET /application/help/search         200  200  200  401
`,
  {
    'GET /application/help/pages/:page': { at: () => ({ page: 'contexts/ci' }) },
    'GET /application/help/search': { input: { search: 'webhook' } },
  },
)
