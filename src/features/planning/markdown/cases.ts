import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                  anon strg admn blkd
  POST /markdown   401  201  201  401
`,
  { 'POST /markdown': { input: { text: '*a*' } } },
)
