import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newRule = () => ({ name: unique('rule') })

async function rule(s: Stage) {
  const { name } = await s.make(projectPath(s, '/protected_branches'), newRule())
  return { name }
}

export const cases = casesOf(
  `
                                                         anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/protected_branches           private  404  404  404  403  200  200  200  200  200  401
                                                 public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/protected_branches/:name     private  404  404  404  403  200  200  200  200  200  401
                                                 public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/protected_branches          private  401  404  404  403  403  403  201  201  201  401
                                                 public   401  403  403  403  403  403  201  201  201  401
  PATCH /projects/:id/protected_branches/:name   private  401  404  404  403  403  403  200  200  200  401
                                                 public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/protected_branches/:name  private  401  404  404  403  403  403  204  204  204  401
                                                 public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'GET /projects/:id/protected_branches/:name': { at: rule },
    'POST /projects/:id/protected_branches': { input: newRule },
    'PATCH /projects/:id/protected_branches/:name': { at: rule, input: { allow_force_push: true } },
    'DELETE /projects/:id/protected_branches/:name': { at: rule },
  },
)
