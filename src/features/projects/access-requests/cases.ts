import { timestamp } from '../../../clock.ts'
import { casesOf, type Stage } from '../../../../test/cases.ts'

/** Also for users who could not create the request themselves. */
async function request(s: Stage) {
  const { id: user_id } = await s.newcomer()
  const row = { project_id: s.project.id, group_id: null, user_id, requested_at: timestamp(s.forge.clock) }
  await s.forge.app.db.insertInto('access_requests').values(row).execute()
  return { user_id }
}

export const cases = casesOf(
  `
                                                              anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/access_requests                   private  401  404  404  403  403  403  200  200  200  401
                                                      public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/access_requests                  private  401  404  404  403  403  403  403  403  403  401
                                                      public   401  201  201  403  403  403  403  403  403  401
  PUT /projects/:id/access_requests/:user_id/approve  private  401  404  404  403  403  403  201  201  201  401
                                                      public   401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/access_requests/:user_id       private  401  404  404  403  403  403  204  204  204  401
                                                      public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'PUT /projects/:id/access_requests/:user_id/approve': { at: request, input: { access_level: 30 } },
    'DELETE /projects/:id/access_requests/:user_id': { at: request },
  },
)
