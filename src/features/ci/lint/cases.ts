import { casesOf } from '../../../../test/cases.ts'

const content = 'test: { script: make }'

export const cases = casesOf(
  `
                                       anon strg extn guest rept devl mast ownr admn blkd
  POST /ci/lint                         200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/ci/lint  private   401  404  404  403  403  200  200  200  200  401
                              public    401  403  403  403  403  200  200  200  200  401
  GET /projects/:id/ci/lint   private   401  404  404  403  200  200  200  200  200  401
                              public    401  200  200  200  200  200  200  200  200  401
`,
  {
    'POST /ci/lint': { input: { content } },
    'POST /projects/:id/ci/lint': { input: { content } },
  },
)
