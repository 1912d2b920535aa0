import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                                   anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/templates/:type        private  404  404  404  200  200  200  200  200  200  401
                                           public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/templates/:type/:name  private  404  404  404  200  200  200  200  200  200  401
                                           public   200  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/templates/:type': { at: () => ({ type: 'issues' }) },
    'GET /projects/:id/templates/:type/:name': { at: () => ({ type: 'licenses', name: 'mit' }) },
  },
)
