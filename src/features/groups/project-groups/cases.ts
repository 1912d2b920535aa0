import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                                anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/groups              private  404  404  404  200  200  200  200  200  200  401
                                        public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/invited_groups      private  404  404  404  200  200  200  200  200  200  401
                                        public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/transfer_locations  private  401  404  404  403  403  403  403  200  200  401
                                        public   401  403  403  403  403  403  403  200  200  401
`,
)
