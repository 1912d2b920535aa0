import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newBranch = () => ({ branch: unique('branch'), ref: 'master' })

async function branch(s: Stage) {
  const { name } = await s.make(projectPath(s, '/repository/branches'), newBranch())
  return { branch: name }
}

export const cases = casesOf(
  `
                                                                   anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/branches                    private  404  404  404  403  200  200  200  200  200  401
                                                           public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/branches/:branch            private  404  404  404  403  200  200  200  200  200  401
                                                           public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/branches                   private  401  404  404  403  403  201  201  201  201  401
                                                           public   401  403  403  403  403  201  201  201  201  401
  DELETE /projects/:id/repository/branches/:branch         private  401  404  404  403  403  204  204  204  204  401
                                                           public   401  403  403  403  403  204  204  204  204  401
  DELETE /projects/:id/repository/merged_branches          private  401  404  404  403  202  202  202  202  202  401
                                                           public   401  202  202  202  202  202  202  202  202  401
  PUT /projects/:id/repository/branches/:branch/protect    private  401  404  404  403  403  403  200  200  200  401
                                                           public   401  403  403  403  403  403  200  200  200  401
  PUT /projects/:id/repository/branches/:branch/unprotect  private  401  404  404  403  403  403  200  200  200  401
                                                           public   401  403  403  403  403  403  200  200  200  401
`,
  {
    'GET /projects/:id/repository/branches/:branch': { at: branch },
    'POST /projects/:id/repository/branches': { input: newBranch },
    'DELETE /projects/:id/repository/branches/:branch': { at: branch },
    'PUT /projects/:id/repository/branches/:branch/protect': { at: branch, input: { developers_can_push: true } },
    'PUT /projects/:id/repository/branches/:branch/unprotect': { at: branch },
  },
)
