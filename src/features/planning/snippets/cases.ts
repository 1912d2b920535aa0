import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newSnippet = () => ({ title: unique('snippet'), file_name: 'a.txt', content: 'some text', visibility: 'public' })
const inProject = () => ({ title: unique('snippet'), file_name: 'a.txt', code: 'some text', visibility: 'private' })

const snippet = async (s: Stage) => ({ id: (await s.make('/snippets', newSnippet())).id })
const file = async (s: Stage) => ({ ...(await snippet(s)), ref: 'main', file_path: 'a.txt' })

const projectSnippet = async (s: Stage) => ({
  snippet_id: (await s.make(projectPath(s, '/snippets'), inProject())).id,
})
const projectFile = async (s: Stage) => ({ ...(await projectSnippet(s)), ref: 'main', file_path: 'a.txt' })

export const cases = casesOf(
  `
                                                                          anon strg extn guest rept devl mast ownr admn blkd
  GET /snippets                                                            401  200  200  200  200  200  200  200  200  401
  GET /snippets/public                                                     401  200  200  200  200  200  200  200  200  401
  GET /snippets/all                                                        401  200  200  200  200  200  200  200  200  401
  POST /snippets                                                           401  201  403  201  201  201  201  201  201  401
  GET /snippets/:id                                                        200  200  200  200  200  200  200  200  200  401
  GET /snippets/:id/raw                                                    200  200  200  200  200  200  200  200  200  401
  GET /snippets/:id/files/:ref/:file_path/raw                              200  200  200  200  200  200  200  200  200  401
  GET /snippets/:id/user_agent_detail                                      401  403  403  403  403  403  403  403  200  401
  PUT /snippets/:id                                                        401  404  404  404  404  404  404  200  200  401
  DELETE /snippets/:id                                                     401  404  404  404  404  404  404  204  204  401
  GET /projects/:id/snippets                                      private  404  404  404  200  200  200  200  200  200  401
                                                                  public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/snippets                                     private  401  404  404  403  201  201  201  201  201  401
                                                                  public   401  403  403  403  201  201  201  201  201  401
  GET /projects/:id/snippets/:snippet_id                          private  404  404  404  200  200  200  200  200  200  401
                                                                  public   404  404  404  200  200  200  200  200  200  401
  PUT /projects/:id/snippets/:snippet_id                          private  401  404  404  403  403  403  200  200  200  401
                                                                  public   401  404  404  403  403  403  200  200  200  401
  DELETE /projects/:id/snippets/:snippet_id                       private  401  404  404  403  403  403  204  204  204  401
                                                                  public   401  404  404  403  403  403  204  204  204  401
  GET /projects/:id/snippets/:snippet_id/raw                      private  404  404  404  200  200  200  200  200  200  401
                                                                  public   404  404  404  200  200  200  200  200  200  401
  GET /projects/:id/snippets/:snippet_id/files/:ref/:file_path/raw private 404  404  404  200  200  200  200  200  200  401
                                                                  public   404  404  404  200  200  200  200  200  200  401
  GET /projects/:id/snippets/:snippet_id/user_agent_detail        private  401  403  403  403  403  403  403  403  200  401
                                                                  public   401  403  403  403  403  403  403  403  200  401
`,
  {
    'POST /snippets': { input: newSnippet },
    'GET /snippets/:id': { at: snippet },
    'GET /snippets/:id/raw': { at: snippet },
    'GET /snippets/:id/files/:ref/:file_path/raw': { at: file },
    'GET /snippets/:id/user_agent_detail': { at: snippet },
    'PUT /snippets/:id': { at: snippet, input: { title: 'other' } },
    'DELETE /snippets/:id': { at: snippet },
    'POST /projects/:id/snippets': { input: inProject },
    'GET /projects/:id/snippets/:snippet_id': { at: projectSnippet },
    'PUT /projects/:id/snippets/:snippet_id': { at: projectSnippet, input: { title: 'other' } },
    'DELETE /projects/:id/snippets/:snippet_id': { at: projectSnippet },
    'GET /projects/:id/snippets/:snippet_id/raw': { at: projectSnippet },
    'GET /projects/:id/snippets/:snippet_id/files/:ref/:file_path/raw': { at: projectFile },
    'GET /projects/:id/snippets/:snippet_id/user_agent_detail': { at: projectSnippet },
  },
)
