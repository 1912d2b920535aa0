import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'

const other = async (s: Stage) => ({ target_project_id: (await s.newProject()).id })
const named = async (s: Stage) => {
  const at = await other(s)
  await s.make(projectPath(s, '/job_token_scope/allowlist'), at)
  return at
}
const groups = async (s: Stage) => ({
  target_group_id: (await s.forge.group({ visibility: 'public' }, s.owner)).id,
})
const namedGroup = async (s: Stage) => {
  const at = await groups(s)
  await s.make(projectPath(s, '/job_token_scope/groups_allowlist'), at)
  return at
}

export const cases = casesOf(
  `
                                                                           anon strg extn guest rept devl mast ownr admn blkd
  GET /job                                                                  401  404  404  404  404  404  404  404  404  401
  GET /projects/:id/job_token_scope                                private  401  404  404  403  403  403  200  200  200  401
                                                                   public   401  403  403  403  403  403  200  200  200  401
  PATCH /projects/:id/job_token_scope                              private  401  404  404  403  403  403  204  204  204  401
                                                                   public   401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/job_token_scope/allowlist                      private  401  404  404  403  403  403  200  200  200  401
                                                                   public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/job_token_scope/allowlist                     private  401  404  404  403  403  403  201  201  201  401
                                                                   public   401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/job_token_scope/allowlist/:target_project_id private 401  404  404  403  403  403  204  204  204  401
                                                                   public   401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/job_token_scope/groups_allowlist               private  401  404  404  403  403  403  200  200  200  401
                                                                   public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/job_token_scope/groups_allowlist              private  401  404  404  403  403  403  201  201  201  401
                                                                   public   401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/job_token_scope/groups_allowlist/:target_group_id private 401 404 404 403  403  403  204  204  204  401
                                                                   public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'PATCH /projects/:id/job_token_scope': { input: { enabled: false } },
    'POST /projects/:id/job_token_scope/allowlist': { input: other },
    'DELETE /projects/:id/job_token_scope/allowlist/:target_project_id': { at: named },
    'POST /projects/:id/job_token_scope/groups_allowlist': { input: groups },
    'DELETE /projects/:id/job_token_scope/groups_allowlist/:target_group_id': { at: namedGroup },
  },
)
