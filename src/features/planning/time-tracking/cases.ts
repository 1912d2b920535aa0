import { casesOf, type Stage } from '../../../../test/cases.ts'

const at = async (s: Stage) => ({
  issue_iid: (await s.make(`/projects/${s.project.id}/issues`, { title: 'A case' })).iid,
})
const input = { duration: '1h' }

export const cases = casesOf(
  `
                                                                 anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/issues/:issue_iid/time_stats         private  404  404  404  200  200  200  200  200  200  401
                                                         public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/issues/:issue_iid/time_estimate     private  401  404  404  403  200  200  200  200  200  401
                                                         public   401  403  403  403  200  200  200  200  200  401
  POST /projects/:id/issues/:issue_iid/reset_time_estimate private  401  404  404  403  200  200  200  200  200  401
                                                         public   401  403  403  403  200  200  200  200  200  401
  POST /projects/:id/issues/:issue_iid/add_spent_time    private  401  404  404  403  201  201  201  201  201  401
                                                         public   401  403  403  403  201  201  201  201  201  401
  POST /projects/:id/issues/:issue_iid/reset_spent_time  private  401  404  404  403  200  200  200  200  200  401
                                                         public   401  403  403  403  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/issues/:issue_iid/time_stats': { at },
    'POST /projects/:id/issues/:issue_iid/time_estimate': { at, input },
    'POST /projects/:id/issues/:issue_iid/reset_time_estimate': { at },
    'POST /projects/:id/issues/:issue_iid/add_spent_time': { at, input },
    'POST /projects/:id/issues/:issue_iid/reset_spent_time': { at },
  },
)
