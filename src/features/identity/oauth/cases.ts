import { casesOf, type Stage } from '../../../../test/cases.ts'

const newApplication = { name: 'x', redirect_uri: 'https://app.example', scopes: 'api' }

const application = async (s: Stage) => ({
  id: (await s.make('/applications', newApplication, s.forge.administrator)).id,
})

export const cases = casesOf(
  `
                                      anon strg admn blkd
  GET /applications                    401  403  200  401
  POST /applications                   401  403  201  401
  DELETE /applications/:id             401  403  204  401
  POST /applications/:id/renew-secret  401  403  201  401
`,
  {
    'POST /applications': { input: newApplication },
    'DELETE /applications/:id': { at: application },
    'POST /applications/:id/renew-secret': { at: application },
  },
)
