import { casesOf, newProject, type Stage } from '../../../../test/cases.ts'

/** A project has at most one push rule. */
async function ruled(s: Stage) {
  const { id } = await s.newProject()
  await s.make(`/projects/${id}/push_rule`, { deny_delete_tag: true })
  return { id }
}

export const cases = casesOf(
  `
                                          anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/push_rule     private  401  404  404  403  403  403  200  200  200  401
                                  public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/push_rule    private  401  404  404  403  403  403  201  201  201  401
                                  public   401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/push_rule     private  401  404  404  403  403  403  200  200  200  401
                                  public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/push_rule  private  401  404  404  403  403  403  204  204  204  401
                                  public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'GET /projects/:id/push_rule': { at: ruled },
    'POST /projects/:id/push_rule': { at: newProject, input: { deny_delete_tag: true } },
    'PUT /projects/:id/push_rule': { at: ruled, input: { member_check: true } },
    'DELETE /projects/:id/push_rule': { at: ruled },
  },
)
