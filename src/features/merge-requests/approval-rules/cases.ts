import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'
import { oneMergeRequest } from '../../../../test/merge-requests.ts'

const PROJECT = '/projects/:id/approval_rules'
const OWN = '/projects/:id/merge_requests/:merge_request_iid/approval_rules'

const newRule = () => ({ name: unique('rule'), approvals_required: 0 })

const rule = async (s: Stage) => {
  const made = await s.make(projectPath(s, '/approval_rules'), newRule())
  return { approval_rule_id: made.id as number }
}

const ownRule = async (s: Stage) => {
  const { merge_request_iid } = await oneMergeRequest(s)
  const made = await s.make(projectPath(s, `/merge_requests/${merge_request_iid}/approval_rules`), newRule())
  return { merge_request_iid, approval_rule_id: made.id as number }
}

export const cases = casesOf(
  `
                                                                                                anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/approval_settings                                                  private  401  404  404  403  200  200  200  200  200  401
                                                                                       public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/approval_rules                                                     private  401  404  404  403  200  200  200  200  200  401
                                                                                       public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/approval_rules                                                    private  401  404  404  403  403  403  201  201  201  401
                                                                                       public   401  403  403  403  403  403  201  201  201  401
  GET /projects/:id/approval_rules/:approval_rule_id                                   private  401  404  404  403  200  200  200  200  200  401
                                                                                       public   401  200  200  200  200  200  200  200  200  401
  PUT /projects/:id/approval_rules/:approval_rule_id                                   private  401  404  404  403  403  403  200  200  200  401
                                                                                       public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/approval_rules/:approval_rule_id                                private  401  404  404  403  403  403  204  204  204  401
                                                                                       public   401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/merge_requests/:merge_request_iid/approval_rules                   private  401  404  404  403  200  200  200  200  200  401
                                                                                       public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/approval_rules                  private  401  404  404  403  403  201  201  201  201  401
                                                                                       public   401  403  403  403  403  201  201  201  201  401
  GET /projects/:id/merge_requests/:merge_request_iid/approval_rules/:approval_rule_id  private  401  404  404  403  200  200  200  200  200  401
                                                                                        public   401  200  200  200  200  200  200  200  200  401
  PUT /projects/:id/merge_requests/:merge_request_iid/approval_rules/:approval_rule_id  private  401  404  404  403  403  200  200  200  200  401
                                                                                        public   401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/merge_requests/:merge_request_iid/approval_rules/:approval_rule_id  private  401  404  404  403  403  204  204  204  204  401
                                                                                        public   401  403  403  403  403  204  204  204  204  401
`,
  {
    [`POST ${PROJECT}`]: { input: newRule },
    [`GET ${PROJECT}/:approval_rule_id`]: { at: rule },
    [`PUT ${PROJECT}/:approval_rule_id`]: { at: rule, input: { approvals_required: 0 } },
    [`DELETE ${PROJECT}/:approval_rule_id`]: { at: rule },
    [`GET ${OWN}`]: { at: oneMergeRequest },
    [`POST ${OWN}`]: { at: oneMergeRequest, input: newRule },
    [`GET ${OWN}/:approval_rule_id`]: { at: ownRule },
    [`PUT ${OWN}/:approval_rule_id`]: { at: ownRule, input: { approvals_required: 0 } },
    [`DELETE ${OWN}/:approval_rule_id`]: { at: ownRule },
  },
)
