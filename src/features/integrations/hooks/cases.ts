import { casesOf, groupPath, projectPath, type Ask, type Stage } from '../../../../test/cases.ts'

const newHook = {
  url: 'https://hooks.example.org/',
  url_variables: [{ key: 'kept', value: '1' }],
  custom_headers: [{ key: 'kept', value: '1' }],
}

const ofProject = async (s: Stage) => (await s.make(projectPath(s, '/hooks'), newHook)).id
const ofGroup = async (s: Stage) => (await s.make(groupPath(s, '/hooks'), newHook)).id
const ofInstance = async (s: Stage) => (await s.make('/hooks', newHook, s.cast.people.administrator)).id

/** The same requests for every scope. */
const asksAt = (path: string, make: (s: Stage) => Promise<number>): Record<string, Ask> => {
  const hook = async (s: Stage) => ({ hook_id: await make(s) })
  const pair = async (s: Stage) => ({ hook_id: await make(s), key: 'kept' })
  return {
    [`GET ${path}/:hook_id`]: { at: hook },
    [`POST ${path}`]: { input: newHook },
    [`PUT ${path}/:hook_id`]: { at: hook, input: { push_events: false } },
    [`DELETE ${path}/:hook_id`]: { at: hook },
    [`PUT ${path}/:hook_id/url_variables/:key`]: { at: pair, input: { value: 'other' } },
    [`DELETE ${path}/:hook_id/url_variables/:key`]: { at: pair },
    [`PUT ${path}/:hook_id/custom_headers/:key`]: { at: pair, input: { value: 'other' } },
    [`DELETE ${path}/:hook_id/custom_headers/:key`]: { at: pair },
  }
}

export const cases = casesOf(
  `
                                                                   anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/hooks                                 private  401  404  404  403  403  403  200  200  200  401
                                                          public   401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/hooks/:hook_id                        private  401  404  404  403  403  403  200  200  200  401
                                                          public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/hooks                                private  401  404  404  403  403  403  201  201  201  401
                                                          public   401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/hooks/:hook_id                        private  401  404  404  403  403  403  200  200  200  401
                                                          public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/hooks/:hook_id                     private  401  404  404  403  403  403  200  200  200  401
                                                          public   401  403  403  403  403  403  200  200  200  401
  PUT /projects/:id/hooks/:hook_id/url_variables/:key     private  401  404  404  403  403  403  204  204  204  401
                                                          public   401  403  403  403  403  403  204  204  204  401
  DELETE /projects/:id/hooks/:hook_id/url_variables/:key  private  401  404  404  403  403  403  204  204  204  401
                                                          public   401  403  403  403  403  403  204  204  204  401
  PUT /projects/:id/hooks/:hook_id/custom_headers/:key    private  401  404  404  403  403  403  204  204  204  401
                                                          public   401  403  403  403  403  403  204  204  204  401
  DELETE /projects/:id/hooks/:hook_id/custom_headers/:key private  401  404  404  403  403  403  204  204  204  401
                                                          public   401  403  403  403  403  403  204  204  204  401
  GET /groups/:id/hooks                                   private  401  404  404  403  403  403  403  200  200  401
                                                          public   401  403  403  403  403  403  403  200  200  401
  GET /groups/:id/hooks/:hook_id                          private  401  404  404  403  403  403  403  200  200  401
                                                          public   401  403  403  403  403  403  403  200  200  401
  POST /groups/:id/hooks                                  private  401  404  404  403  403  403  403  201  201  401
                                                          public   401  403  403  403  403  403  403  201  201  401
  PUT /groups/:id/hooks/:hook_id                          private  401  404  404  403  403  403  403  200  200  401
                                                          public   401  403  403  403  403  403  403  200  200  401
  DELETE /groups/:id/hooks/:hook_id                       private  401  404  404  403  403  403  403  204  204  401
                                                          public   401  403  403  403  403  403  403  204  204  401
  PUT /groups/:id/hooks/:hook_id/url_variables/:key       private  401  404  404  403  403  403  403  204  204  401
                                                          public   401  403  403  403  403  403  403  204  204  401
  DELETE /groups/:id/hooks/:hook_id/url_variables/:key    private  401  404  404  403  403  403  403  204  204  401
                                                          public   401  403  403  403  403  403  403  204  204  401
  PUT /groups/:id/hooks/:hook_id/custom_headers/:key      private  401  404  404  403  403  403  403  204  204  401
                                                          public   401  403  403  403  403  403  403  204  204  401
  DELETE /groups/:id/hooks/:hook_id/custom_headers/:key   private  401  404  404  403  403  403  403  204  204  401
                                                          public   401  403  403  403  403  403  403  204  204  401
  GET /hooks                                                       401  403  403  403  403  403  403  403  200  401
  GET /hooks/:hook_id                                              401  403  403  403  403  403  403  403  200  401
  POST /hooks                                                      401  403  403  403  403  403  403  403  201  401
  PUT /hooks/:hook_id                                              401  403  403  403  403  403  403  403  200  401
  DELETE /hooks/:hook_id                                           401  403  403  403  403  403  403  403  204  401
  PUT /hooks/:hook_id/url_variables/:key                           401  403  403  403  403  403  403  403  204  401
  DELETE /hooks/:hook_id/url_variables/:key                        401  403  403  403  403  403  403  403  204  401
  PUT /hooks/:hook_id/custom_headers/:key                          401  403  403  403  403  403  403  403  204  401
  DELETE /hooks/:hook_id/custom_headers/:key                       401  403  403  403  403  403  403  403  204  401
`,
  {
    ...asksAt('/projects/:id/hooks', ofProject),
    ...asksAt('/groups/:id/hooks', ofGroup),
    ...asksAt('/hooks', ofInstance),
  },
)
