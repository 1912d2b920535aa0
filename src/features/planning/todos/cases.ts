import { casesOf, type Stage } from '../../../../test/cases.ts'
import { oneMergeRequest } from '../../../../test/merge-requests.ts'

const issue = (s: Stage, input: Record<string, unknown> = {}) =>
  s.make(`/projects/${s.project.id}/issues`, { title: 'A case', ...input })

const newIssue = async (s: Stage) => ({ issue_iid: (await issue(s)).iid })
const hiddenIssue = async (s: Stage) => ({ issue_iid: (await issue(s, { confidential: true })).iid })

/** A to-do item of the owner. */
const todo = async (s: Stage) => {
  const { issue_iid } = await newIssue(s)
  return { id: (await s.make(`/projects/${s.project.id}/issues/${issue_iid}/todo`)).id }
}

export const cases = casesOf(
  `
                                                                      anon strg extn guest rept devl mast ownr admn blkd
  GET /todos                                                           401  200  200  200  200  200  200  200  200  401
  POST /todos/mark_as_done                                             401  204  204  204  204  204  204  204  204  401
  POST /todos/:id/mark_as_done                                         401  404  404  404  404  404  404  201  404  401
  POST /projects/:id/issues/:issue_iid/todo                   private  401  404  404  201  201  201  201  201  201  401
                                                              public   401  201  201  201  201  201  201  201  201  401
  POST /projects/:id/issues/:issue_iid/todo (hidden)          private  401  404  404  404  201  201  201  201  201  401
                                                              public   401  404  404  404  201  201  201  201  201  401
  POST /projects/:id/merge_requests/:merge_request_iid/todo   private  401  404  404  403  201  201  201  201  201  401
                                                              public   401  201  201  201  201  201  201  201  201  401
`,
  {
    'POST /todos/mark_as_done': { input: { action: 'marked' } },
    'POST /todos/:id/mark_as_done': { at: todo },
    'POST /projects/:id/issues/:issue_iid/todo': { at: newIssue },
    'POST /projects/:id/issues/:issue_iid/todo (hidden)': { at: hiddenIssue },
    'POST /projects/:id/merge_requests/:merge_request_iid/todo': { at: oneMergeRequest },
  },
)
