import { casesOf, groupPath, projectPath, unique, type Stage } from '../../../../test/cases.ts'

function makersAt(path: (s: Stage, tail: string) => string) {
  const newList = async (s: Stage) => ({
    label_id: (await s.make(path(s, '/labels'), { name: unique('label'), color: 'red' })).id,
  })
  const board = async (s: Stage) => ({ board_id: (await s.make(path(s, '/boards'), { name: unique('board') })).id })
  /** The first of two. */
  const list = async (s: Stage) => {
    const { board_id } = await board(s)
    const { id: list_id } = await s.make(path(s, `/boards/${board_id}/lists`), await newList(s))
    await s.make(path(s, `/boards/${board_id}/lists`), await newList(s))
    return { board_id, list_id }
  }
  return { newList, board, list }
}

const ofProject = makersAt(projectPath)
const ofGroup = makersAt(groupPath)

export const cases = casesOf(
  `
                                                                   anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/boards                                private  404  404  404  200  200  200  200  200  200  401
                                                          public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/boards/:board_id                      private  404  404  404  200  200  200  200  200  200  401
                                                          public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/boards                               private  401  404  404  403  201  201  201  201  201  401
                                                          public   401  403  403  403  201  201  201  201  201  401
  PUT /projects/:id/boards/:board_id                      private  401  404  404  403  200  200  200  200  200  401
                                                          public   401  403  403  403  200  200  200  200  200  401
  DELETE /projects/:id/boards/:board_id                   private  401  404  404  403  204  204  204  204  204  401
                                                          public   401  403  403  403  204  204  204  204  204  401
  GET /projects/:id/boards/:board_id/lists                private  404  404  404  200  200  200  200  200  200  401
                                                          public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/boards/:board_id/lists/:list_id       private  404  404  404  200  200  200  200  200  200  401
                                                          public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/boards/:board_id/lists               private  401  404  404  403  201  201  201  201  201  401
                                                          public   401  403  403  403  201  201  201  201  201  401
  PUT /projects/:id/boards/:board_id/lists/:list_id       private  401  404  404  403  200  200  200  200  200  401
                                                          public   401  403  403  403  200  200  200  200  200  401
  DELETE /projects/:id/boards/:board_id/lists/:list_id    private  401  404  404  403  204  204  204  204  204  401
                                                          public   401  403  403  403  204  204  204  204  204  401
  GET /groups/:id/boards                                  private  404  404  404  200  200  200  200  200  200  401
                                                          public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/boards/:board_id                        private  404  404  404  200  200  200  200  200  200  401
                                                          public   200  200  200  200  200  200  200  200  200  401
  POST /groups/:id/boards                                 private  401  404  404  403  201  201  201  201  201  401
                                                          public   401  403  403  403  201  201  201  201  201  401
  PUT /groups/:id/boards/:board_id                        private  401  404  404  403  200  200  200  200  200  401
                                                          public   401  403  403  403  200  200  200  200  200  401
  DELETE /groups/:id/boards/:board_id                     private  401  404  404  403  204  204  204  204  204  401
                                                          public   401  403  403  403  204  204  204  204  204  401
  GET /groups/:id/boards/:board_id/lists                  private  404  404  404  200  200  200  200  200  200  401
                                                          public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/boards/:board_id/lists/:list_id         private  404  404  404  200  200  200  200  200  200  401
                                                          public   200  200  200  200  200  200  200  200  200  401
  POST /groups/:id/boards/:board_id/lists                 private  401  404  404  403  201  201  201  201  201  401
                                                          public   401  403  403  403  201  201  201  201  201  401
  PUT /groups/:id/boards/:board_id/lists/:list_id         private  401  404  404  403  200  200  200  200  200  401
                                                          public   401  403  403  403  200  200  200  200  200  401
  DELETE /groups/:id/boards/:board_id/lists/:list_id      private  401  404  404  403  204  204  204  204  204  401
                                                          public   401  403  403  403  204  204  204  204  204  401
`,
  {
    'GET /projects/:id/boards': { at: ofProject.board },
    'GET /projects/:id/boards/:board_id': { at: ofProject.board },
    'POST /projects/:id/boards': { input: { name: 'x' } },
    'PUT /projects/:id/boards/:board_id': { at: ofProject.board, input: { name: 'y' } },
    'DELETE /projects/:id/boards/:board_id': { at: ofProject.board },
    'GET /projects/:id/boards/:board_id/lists': { at: ofProject.board },
    'GET /projects/:id/boards/:board_id/lists/:list_id': { at: ofProject.list },
    'POST /projects/:id/boards/:board_id/lists': { at: ofProject.board, input: ofProject.newList },
    'PUT /projects/:id/boards/:board_id/lists/:list_id': { at: ofProject.list, input: { position: 1 } },
    'DELETE /projects/:id/boards/:board_id/lists/:list_id': { at: ofProject.list },
    'GET /groups/:id/boards': { at: ofGroup.board },
    'GET /groups/:id/boards/:board_id': { at: ofGroup.board },
    'POST /groups/:id/boards': { input: { name: 'x' } },
    'PUT /groups/:id/boards/:board_id': { at: ofGroup.board, input: { name: 'y' } },
    'DELETE /groups/:id/boards/:board_id': { at: ofGroup.board },
    'GET /groups/:id/boards/:board_id/lists': { at: ofGroup.board },
    'GET /groups/:id/boards/:board_id/lists/:list_id': { at: ofGroup.list },
    'POST /groups/:id/boards/:board_id/lists': { at: ofGroup.board, input: ofGroup.newList },
    'PUT /groups/:id/boards/:board_id/lists/:list_id': { at: ofGroup.list, input: { position: 1 } },
    'DELETE /groups/:id/boards/:board_id/lists/:list_id': { at: ofGroup.list },
  },
)
