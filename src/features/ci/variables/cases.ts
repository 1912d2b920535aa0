import { casesOf, groupPath, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newVariable = () => ({ key: unique('KEY'), value: 'value' })

const ofGroup = async (s: Stage) => ({ key: (await s.make(groupPath(s, '/variables'), newVariable())).key })
const ofProject = async (s: Stage) => ({ key: (await s.make(projectPath(s, '/variables'), newVariable())).key })
const ofInstance = async (s: Stage) => ({
  key: (await s.make('/admin/ci/variables', newVariable(), s.cast.people.administrator)).key,
})

export const cases = casesOf(
  `
                                              anon strg extn guest rept devl mast ownr admn blkd
  GET /admin/ci/variables                      401  403  403  403  403  403  403  403  200  401
  GET /admin/ci/variables/:key                 401  403  403  403  403  403  403  403  200  401
  POST /admin/ci/variables                     401  403  403  403  403  403  403  403  201  401
  PUT /admin/ci/variables/:key                 401  403  403  403  403  403  403  403  200  401
  DELETE /admin/ci/variables/:key              401  403  403  403  403  403  403  403  204  401
  GET /groups/:id/variables           private  401  404  404  403  403  403  403  200  200  401
                                      public   401  403  403  403  403  403  403  200  200  401
  GET /groups/:id/variables/:key      private  401  404  404  403  403  403  403  200  200  401
                                      public   401  403  403  403  403  403  403  200  200  401
  POST /groups/:id/variables          private  401  404  404  403  403  403  403  201  201  401
                                      public   401  403  403  403  403  403  403  201  201  401
  PUT /groups/:id/variables/:key      private  401  404  404  403  403  403  403  200  200  401
                                      public   401  403  403  403  403  403  403  200  200  401
  DELETE /groups/:id/variables/:key   private  401  404  404  403  403  403  403  204  204  401
                                      public   401  403  403  403  403  403  403  204  204  401
  GET /projects/:id/variables         private  401  404  404  403  403  403  200  200  200  401
                                      public   401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/variables/:key    private  401  404  404  403  403  403  200  200  200  401
                                      public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/variables        private  401  404  404  403  403  403  201  201  201  401
                                      public   401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/variables/:key    private  401  404  404  403  403  403  200  200  200  401
                                      public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/variables/:key private  401  404  404  403  403  403  204  204  204  401
                                      public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'GET /admin/ci/variables': { scope: 'secret' },
    'GET /admin/ci/variables/:key': { at: ofInstance, scope: 'secret' },
    'POST /admin/ci/variables': { input: newVariable },
    'PUT /admin/ci/variables/:key': { at: ofInstance, input: { value: 'other' } },
    'DELETE /admin/ci/variables/:key': { at: ofInstance },
    'GET /groups/:id/variables': { scope: 'secret' },
    'GET /groups/:id/variables/:key': { at: ofGroup, scope: 'secret' },
    'POST /groups/:id/variables': { input: newVariable },
    'PUT /groups/:id/variables/:key': { at: ofGroup, input: { value: 'other' } },
    'DELETE /groups/:id/variables/:key': { at: ofGroup },
    'GET /projects/:id/variables': { scope: 'secret' },
    'GET /projects/:id/variables/:key': { at: ofProject, scope: 'secret' },
    'POST /projects/:id/variables': { input: newVariable },
    'PUT /projects/:id/variables/:key': { at: ofProject, input: { value: 'other' } },
    'DELETE /projects/:id/variables/:key': { at: ofProject },
  },
)
