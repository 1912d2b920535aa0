import { casesOf } from '../../../../test/cases.ts'

/** The callers do not ask for a stream, so the answer ends after the past events. */
export const cases = casesOf(`
                               anon strg extn guest rept devl mast ownr admn blkd
  GET /user/live                401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/live private 404  404  404  200  200  200  200  200  200  401
                        public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/live  private  404  404  404  200  200  200  200  200  200  401
                        public   200  200  200  200  200  200  200  200  200  401
`)
