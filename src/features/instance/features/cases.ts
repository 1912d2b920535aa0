import { casesOf, unique } from '../../../../test/cases.ts'

const name = () => ({ name: unique('feature') })

export const cases = casesOf(
  `
                         anon strg admn blkd
  GET /features           401  403  200  401
  POST /features/:name    401  403  201  401
  DELETE /features/:name  401  403  204  401
`,
  {
    'POST /features/:name': { at: name, input: { value: 'true' } },
    'DELETE /features/:name': { at: name },
  },
)
