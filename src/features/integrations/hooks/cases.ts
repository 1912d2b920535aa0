import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'

const newHook = { url: 'https://hooks.example.org' }

const hook = async (s: Stage) => ({ hook_id: (await s.make(projectPath(s, '/hooks'), newHook)).id })

export const cases = casesOf(
  `
                                               anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/hooks              private  401  404  404  403  403  403  200  200  200  401
                                       public   401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/hooks/:hook_id     private  401  404  404  403  403  403  200  200  200  401
                                       public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/hooks             private  401  404  404  403  403  403  201  201  201  401
                                       public   401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/hooks/:hook_id     private  401  404  404  403  403  403  200  200  200  401
                                       public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/hooks/:hook_id  private  401  404  404  403  403  403  200  200  200  401
                                       public   401  403  403  403  403  403  200  200  200  401
`,
  {
    'GET /projects/:id/hooks/:hook_id': { at: hook },
    'POST /projects/:id/hooks': { input: newHook },
    'PUT /projects/:id/hooks/:hook_id': { at: hook, input: { push_events: false } },
    'DELETE /projects/:id/hooks/:hook_id': { at: hook },
  },
)
