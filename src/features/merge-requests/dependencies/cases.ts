import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'
import { mergeRequestAt, oneMergeRequest } from '../../../../test/merge-requests.ts'

async function waiting(s: Stage) {
  const [blocked, blocking] = [await mergeRequestAt(s), await mergeRequestAt(s)]
  const at = projectPath(s, `/merge_requests/${blocked.iid}/blocks`)
  const { id } = await s.make(at, { blocking_merge_request_id: blocking.id })
  return { merge_request_iid: blocked.iid as number, block_id: id as number }
}

const input = async (s: Stage) => ({ blocking_merge_request_id: (await mergeRequestAt(s)).id })

export const cases = casesOf(
  `
                                                                                anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/merge_requests/:merge_request_iid/blocks            private  401  404  404  403  200  200  200  200  200  401
                                                                        public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/blockees          private  401  404  404  403  200  200  200  200  200  401
                                                                        public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/blocks/:block_id  private  401  404  404  403  200  200  200  200  200  401
                                                                        public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/blocks           private  401  404  404  403  403  201  201  201  201  401
                                                                        public   401  403  403  403  403  201  201  201  201  401
  DELETE /projects/:id/merge_requests/:merge_request_iid/blocks/:block_id  private  401  404  404  403  403  204  204  204  204  401
                                                                        public   401  403  403  403  403  204  204  204  204  401
`,
  {
    'GET /projects/:id/merge_requests/:merge_request_iid/blocks': { at: waiting },
    'GET /projects/:id/merge_requests/:merge_request_iid/blockees': { at: waiting },
    'GET /projects/:id/merge_requests/:merge_request_iid/blocks/:block_id': { at: waiting },
    'POST /projects/:id/merge_requests/:merge_request_iid/blocks': { at: oneMergeRequest, input },
    'DELETE /projects/:id/merge_requests/:merge_request_iid/blocks/:block_id': { at: waiting },
  },
)
