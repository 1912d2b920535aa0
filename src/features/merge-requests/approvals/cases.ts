import { casesOf, type Stage } from '../../../../test/cases.ts'
import { oneMergeRequest as at, ownMergeRequest } from '../../../../test/merge-requests.ts'
import type { Person } from '../../../forge.ts'

const ITEM = '/projects/:id/merge_requests/:merge_request_iid'

/** Approves as `who`, if allowed. The owner is the author, so the project allows author approval for a moment. */
async function approved(s: Stage, who: Person) {
  const { merge_request_iid } = await ownMergeRequest(s)
  await s.owner.put(`/projects/${s.project.id}/approvals`, { merge_requests_author_approval: true })
  await who.post(`/projects/${s.project.id}/merge_requests/${merge_request_iid}/approve`)
  await s.owner.put(`/projects/${s.project.id}/approvals`, { merge_requests_author_approval: false })
  return { merge_request_iid }
}

export const cases = casesOf(
  `
                                                                                  anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/merge_requests/:merge_request_iid/approvals          private  401  404  404  403  200  200  200  200  200  401
                                                                         public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/approvals         private  401  404  404  403  403  201  201  201  201  401
                                                                         public   401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/merge_requests/:merge_request_iid/approve           private  401  404  404  401  401  200  200  401  200  401
                                                                         public   401  401  401  401  401  200  200  401  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/unapprove         private  401  404  404  401  401  200  200  200  200  401
                                                                         public   401  401  401  401  401  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/approval_state     private  401  404  404  403  200  200  200  200  200  401
                                                                         public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/approval_settings  private  401  404  404  403  200  200  200  200  200  401
                                                                         public   401  200  200  200  200  200  200  200  200  401
`,
  {
    [`GET ${ITEM}/approvals`]: { at },
    [`POST ${ITEM}/approvals`]: { at: ownMergeRequest, input: { approvals_required: 2 } },
    // The project requires no password.
    [`POST ${ITEM}/approve`]: { at: ownMergeRequest, input: { approval_password: 'not asked for' } },
    [`POST ${ITEM}/unapprove`]: { own: approved },
    [`GET ${ITEM}/approval_state`]: { at },
    [`GET ${ITEM}/approval_settings`]: { at },
  },
)
