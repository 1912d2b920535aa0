import { casesOf, type Stage } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                        anon strg extn guest rept devl mast ownr admn blkd
  GET /events                            401  200  200  200  200  200  200  200  200  401
  GET /users/:user_id/events             200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/events      private  404  404  404  200  200  200  200  200  200  401
                                public   200  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /events': { scope: 'read_user' },
    'GET /users/:user_id/events': { at: (s: Stage) => ({ user_id: s.owner.id }), scope: 'read_user' },
  },
)
