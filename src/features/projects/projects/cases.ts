import { casesOf, newProject, unique, type Stage } from '../../../../test/cases.ts'

const owner = (s: Stage) => ({ user_id: s.owner.id })

async function projectInBin(s: Stage) {
  const { forge } = s
  const { id } = await s.newProject()
  await forge.administrator.put('/application/settings', { deletion_adjourned_period: 7 })
  await forge.administrator.delete(`/projects/${id}`)
  await forge.administrator.put('/application/settings', { deletion_adjourned_period: 0 })
  return { id }
}

export const cases = casesOf(
  `
                                          anon strg extn guest rept devl mast ownr admn blkd
  GET /projects                   private  200  200  200  200  200  200  200  200  200  401
                                  public   200  200  200  200  200  200  200  200  200  401
  GET /users/:user_id/projects    private  200  200  200  200  200  200  200  200  200  401
                                  public   200  200  200  200  200  200  200  200  200  401
  POST /projects (of one’s own)   private  401  201  403  201  201  201  201  201  201  401
                                  public   401  201  403  201  201  201  201  201  201  401
  POST /projects                  private  401  400  400  400  400  400  201  201  201  401
                                  public   401  400  400  400  400  400  201  201  201  401
  POST /projects/user/:user_id    private  401  403  403  403  403  403  403  403  201  401
                                  public   401  403  403  403  403  403  403  403  201  401
  GET /projects/:id               private  404  404  404  200  200  200  200  200  200  401
                                  public   200  200  200  200  200  200  200  200  200  401
  PUT /projects/:id               private  401  404  404  403  403  403  200  200  200  401
                                  public   401  403  403  403  403  403  200  200  200  401
  PUT /projects/:id (name)        private  401  404  404  403  403  403  403  200  200  401
                                  public   401  403  403  403  403  403  403  200  200  401
  PUT /projects/:id (visibility)  private  401  404  404  403  403  403  403  200  200  401
                                  public   401  403  403  403  403  403  403  200  200  401
  DELETE /projects/:id            private  401  404  404  403  403  403  403  204  204  401
                                  public   401  403  403  403  403  403  403  204  204  401
  POST /projects/:id/restore      private  401  404  404  404  404  404  404  201  201  401
                                  public   401  404  404  404  404  404  404  201  201  401
  POST /projects/:id/restore (active) private 401 404 404 403  403  403  403  400  400  401
                                  public   401  403  403  403  403  403  403  400  400  401
  POST /projects/:id/archive      private  401  404  404  403  403  403  403  200  200  401
                                  public   401  403  403  403  403  403  403  200  200  401
  POST /projects/:id/unarchive    private  401  404  404  403  403  403  403  200  200  401
                                  public   401  403  403  403  403  403  403  200  200  401
`,
  {
    'GET /users/:user_id/projects': { at: owner },
    'POST /projects (of one’s own)': { input: () => ({ name: unique('own') }) },
    'POST /projects': { input: (s) => ({ name: unique('new'), namespace_id: s.group.id }) },
    'POST /projects/user/:user_id': { at: owner, input: () => ({ name: unique('for') }) },
    'PUT /projects/:id': { input: { description: 'changed' } },
    'PUT /projects/:id (name)': { input: () => ({ name: unique('named') }) },
    'PUT /projects/:id (visibility)': {
      at: newProject,
      input: (s) => ({
        visibility: s.group.full_path.startsWith('public') ? 'internal' : 'private',
        name: unique('seen'),
      }),
    },
    'DELETE /projects/:id': { at: newProject },
    'POST /projects/:id/restore': { at: projectInBin, input: () => ({ path: unique('back'), name: unique('Back') }) },
    'POST /projects/:id/archive': { at: newProject },
  },
)
