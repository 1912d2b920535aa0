import { casesOf, type Stage } from '../../../../test/cases.ts'

const create = (s: Stage) => s.make(`/projects/${s.project.id}/issues`, { title: 'A case' })

const one = async (s: Stage) => ({ issue_iid: (await create(s)).iid })
const other = async (s: Stage) => ({
  target_project_id: s.project.id,
  target_issue_iid: (await create(s)).iid,
})
const linked = async (s: Stage) => {
  const { issue_iid } = await one(s)
  const { id } = await s.make(`/projects/${s.project.id}/issues/${issue_iid}/links`, await other(s))
  return { issue_iid, issue_link_id: id }
}

export const cases = casesOf(
  `
                                                                       anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/issues/:issue_iid/links                    private  404  404  404  200  200  200  200  200  200  401
                                                               public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/issues/:issue_iid/links                   private  401  404  404  403  201  201  201  201  201  401
                                                               public   401  403  403  403  201  201  201  201  201  401
  GET /projects/:id/issues/:issue_iid/links/:issue_link_id     private  401  404  404  200  200  200  200  200  200  401
                                                               public   401  200  200  200  200  200  200  200  200  401
  DELETE /projects/:id/issues/:issue_iid/links/:issue_link_id  private  401  404  404  403  200  200  200  200  200  401
                                                               public   401  403  403  403  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/issues/:issue_iid/links': { at: one },
    'POST /projects/:id/issues/:issue_iid/links': { at: one, input: other },
    'GET /projects/:id/issues/:issue_iid/links/:issue_link_id': { at: linked },
    'DELETE /projects/:id/issues/:issue_iid/links/:issue_link_id': { at: linked },
  },
)
