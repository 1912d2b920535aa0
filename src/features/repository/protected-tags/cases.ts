import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newRule = () => ({ name: unique('rule') })

async function rule(s: Stage) {
  const { name } = await s.make(projectPath(s, '/protected_tags'), newRule())
  return { name }
}

export const cases = casesOf(
  `
                                                     anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/protected_tags           private  401  404  404  403  403  403  200  200  200  401
                                             public   401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/protected_tags/:name     private  401  404  404  403  403  403  200  200  200  401
                                             public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/protected_tags          private  401  404  404  403  403  403  201  201  201  401
                                             public   401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/protected_tags/:name  private  401  404  404  403  403  403  204  204  204  401
                                             public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'GET /projects/:id/protected_tags/:name': { at: rule },
    'POST /projects/:id/protected_tags': { input: newRule },
    'DELETE /projects/:id/protected_tags/:name': { at: rule },
  },
)
