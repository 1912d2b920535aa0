import { casesOf, groupPath, inBin, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const create = (s: Stage, input: Record<string, unknown> = {}) =>
  s.make(`/projects/${s.project.id}/issues`, { title: 'A case', ...input })

const one = async (s: Stage) => ({ issue_iid: (await create(s)).iid })
const confidential = async (s: Stage) => ({ issue_iid: (await create(s, { confidential: true })).iid })

async function deleted(s: Stage) {
  const at = await one(s)
  await inBin(s, projectPath(s, `/issues/${at.issue_iid}`))
  return at
}

type Path = typeof projectPath
const milestoneAt = (path: Path) => async (s: Stage) => ({
  milestone_id: (await s.make(path(s, '/milestones'), { title: unique('milestone') })).id,
})
const boardAt = (path: Path) => async (s: Stage) => ({
  board_id: (await s.make(path(s, '/boards'), { name: unique('board') })).id,
})
const listAt = (path: Path) => async (s: Stage) => {
  const { board_id } = await boardAt(path)(s)
  const label = await s.make(path(s, '/labels'), { name: unique('label'), color: 'red' })
  return { board_id, list_id: (await s.make(path(s, `/boards/${board_id}/lists`), { label_id: label.id })).id }
}

export const cases = casesOf(
  `
                                                              anon strg extn guest rept devl mast ownr admn blkd
  GET /issues                                                  401  200  200  200  200  200  200  200  200  401
  GET /issues_statistics                                       401  200  200  200  200  200  200  200  200  401
  GET /issues/:id                                              401  403  403  403  403  403  403  403  200  401
  GET /groups/:id/issues                              private  404  404  404  200  200  200  200  200  200  401
                                                      public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/issues_statistics                   private  404  404  404  200  200  200  200  200  200  401
                                                      public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues                            private  404  404  404  200  200  200  200  200  200  401
                                                      public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues_statistics                 private  404  404  404  200  200  200  200  200  200  401
                                                      public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/issues                           private  401  404  404  201  201  201  201  201  201  401
                                                      public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/issues/:issue_iid                 private  404  404  404  200  200  200  200  200  200  401
                                                      public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid (confidential)  private  404  404  404  404  200  200  200  200  200  401
                                                      public   404  404  404  404  200  200  200  200  200  401
  PUT /projects/:id/issues/:issue_iid                 private  401  404  404  403  200  200  200  200  200  401
                                                      public   401  403  403  403  200  200  200  200  200  401
  PUT /projects/:id/issues/:issue_iid (confidential)  private  401  404  404  404  200  200  200  200  200  401
                                                      public   401  404  404  404  200  200  200  200  200  401
  DELETE /projects/:id/issues/:issue_iid              private  401  404  404  403  403  403  403  204  204  401
                                                      public   401  403  403  403  403  403  403  204  204  401
  POST /projects/:id/issues/:issue_iid/restore        private  401  404  404  403  403  403  403  201  201  401
                                                      public   401  403  403  403  403  403  403  201  201  401
  POST /projects/:id/issues/:issue_iid/move           private  401  404  404  400  201  201  201  201  201  401
                                                      public   401  400  400  400  201  201  201  201  201  401
  POST /projects/:id/issues/:issue_iid/clone          private  401  404  404  400  201  201  201  201  201  401
                                                      public   401  400  400  400  201  201  201  201  201  401
  PUT /projects/:id/issues/:issue_iid/reorder         private  401  404  404  403  200  200  200  200  200  401
                                                      public   401  403  403  403  200  200  200  200  200  401
  POST /projects/:id/issues/:issue_iid/subscribe      private  401  404  404  201  201  201  201  304  201  401
                                                      public   401  201  201  201  201  201  201  304  201  401
  POST /projects/:id/issues/:issue_iid/unsubscribe    private  401  404  404  304  304  304  304  201  304  401
                                                      public   401  304  304  304  304  304  304  201  304  401
  GET /projects/:id/issues/:issue_iid/participants    private  404  404  404  200  200  200  200  200  200  401
                                                      public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/user_agent_detail private  401  403  403  403  403  403  403  403  200  401
                                                      public   401  403  403  403  403  403  403  403  200  401
  GET /projects/:id/milestones/:milestone_id/issues                  private  404  404  404  200  200  200  200  200  200  401
                                                                     public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/boards/:board_id/lists/:list_id/issues           private  404  404  404  200  200  200  200  200  200  401
                                                                     public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/boards/:board_id/backlog/issues                  private  404  404  404  200  200  200  200  200  200  401
                                                                     public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/boards/:board_id/closed/issues                   private  404  404  404  200  200  200  200  200  200  401
                                                                     public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/milestones/:milestone_id/issues                    private  404  404  404  200  200  200  200  200  200  401
                                                                     public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/boards/:board_id/lists/:list_id/issues             private  404  404  404  200  200  200  200  200  200  401
                                                                     public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/boards/:board_id/backlog/issues                    private  404  404  404  200  200  200  200  200  200  401
                                                                     public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/boards/:board_id/closed/issues                     private  404  404  404  200  200  200  200  200  200  401
                                                                     public   200  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /issues/:id': { at: async (s) => ({ id: (await create(s)).id }) },
    'POST /projects/:id/issues': { input: { title: 'A case' } },
    'GET /projects/:id/issues/:issue_iid': { at: one },
    'GET /projects/:id/issues/:issue_iid (confidential)': { at: confidential },
    'PUT /projects/:id/issues/:issue_iid': { at: one, input: { title: 'Another' } },
    'PUT /projects/:id/issues/:issue_iid (confidential)': { at: confidential, input: { title: 'Another' } },
    'DELETE /projects/:id/issues/:issue_iid': { at: one },
    'POST /projects/:id/issues/:issue_iid/restore': { at: deleted },
    'POST /projects/:id/issues/:issue_iid/move': { at: one, input: elsewhere },
    'POST /projects/:id/issues/:issue_iid/clone': { at: one, input: elsewhere },
    'PUT /projects/:id/issues/:issue_iid/reorder': {
      at: one,
      input: async (s) => ({ move_after_id: (await create(s)).id }),
    },
    'POST /projects/:id/issues/:issue_iid/subscribe': { at: one },
    'POST /projects/:id/issues/:issue_iid/unsubscribe': { at: one },
    'GET /projects/:id/issues/:issue_iid/participants': { at: one },
    'GET /projects/:id/issues/:issue_iid/user_agent_detail': { at: one },
    'GET /projects/:id/milestones/:milestone_id/issues': { at: milestoneAt(projectPath) },
    'GET /projects/:id/boards/:board_id/lists/:list_id/issues': { at: listAt(projectPath) },
    'GET /projects/:id/boards/:board_id/backlog/issues': { at: boardAt(projectPath) },
    'GET /projects/:id/boards/:board_id/closed/issues': { at: boardAt(projectPath) },
    'GET /groups/:id/milestones/:milestone_id/issues': { at: milestoneAt(groupPath) },
    'GET /groups/:id/boards/:board_id/lists/:list_id/issues': { at: listAt(groupPath) },
    'GET /groups/:id/boards/:board_id/backlog/issues': { at: boardAt(groupPath) },
    'GET /groups/:id/boards/:board_id/closed/issues': { at: boardAt(groupPath) },
  },
)

async function elsewhere(s: Stage) {
  return { to_project_id: (await s.newProject()).id }
}
