import { casesOf, groupPath, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newMilestone = () => ({ title: unique('milestone') })

const milestone = async (s: Stage) => ({
  milestone_id: (await s.make(projectPath(s, '/milestones'), newMilestone())).id,
})
const groupMilestone = async (s: Stage) => ({
  milestone_id: (await s.make(groupPath(s, '/milestones'), newMilestone())).id,
})

export const cases = casesOf(
  `
                                                               anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/milestones                         private  404  404  404  200  200  200  200  200  200  401
                                                       public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/milestones/:milestone_id           private  404  404  404  200  200  200  200  200  200  401
                                                       public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/milestones                        private  401  404  404  403  201  201  201  201  201  401
                                                       public   401  403  403  403  201  201  201  201  201  401
  PUT /projects/:id/milestones/:milestone_id           private  401  404  404  403  200  200  200  200  200  401
                                                       public   401  403  403  403  200  200  200  200  200  401
  DELETE /projects/:id/milestones/:milestone_id        private  401  404  404  403  204  204  204  204  204  401
                                                       public   401  403  403  403  204  204  204  204  204  401
  POST /projects/:id/milestones/:milestone_id/promote  private  401  404  404  403  200  200  200  200  200  401
                                                       public   401  403  403  403  200  200  200  200  200  401
  GET /groups/:id/milestones                           private  404  404  404  200  200  200  200  200  200  401
                                                       public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/milestones/:milestone_id             private  404  404  404  200  200  200  200  200  200  401
                                                       public   200  200  200  200  200  200  200  200  200  401
  POST /groups/:id/milestones                          private  401  404  404  403  201  201  201  201  201  401
                                                       public   401  403  403  403  201  201  201  201  201  401
  PUT /groups/:id/milestones/:milestone_id             private  401  404  404  403  200  200  200  200  200  401
                                                       public   401  403  403  403  200  200  200  200  200  401
  DELETE /groups/:id/milestones/:milestone_id          private  401  404  404  403  204  204  204  204  204  401
                                                       public   401  403  403  403  204  204  204  204  204  401
`,
  {
    'GET /projects/:id/milestones/:milestone_id': { at: milestone },
    'POST /projects/:id/milestones': { input: newMilestone },
    'PUT /projects/:id/milestones/:milestone_id': { at: milestone, input: { description: 'x' } },
    'DELETE /projects/:id/milestones/:milestone_id': { at: milestone },
    'POST /projects/:id/milestones/:milestone_id/promote': { at: milestone },
    'GET /groups/:id/milestones/:milestone_id': { at: groupMilestone },
    'POST /groups/:id/milestones': { input: newMilestone },
    'PUT /groups/:id/milestones/:milestone_id': { at: groupMilestone, input: { description: 'x' } },
    'DELETE /groups/:id/milestones/:milestone_id': { at: groupMilestone },
  },
)
