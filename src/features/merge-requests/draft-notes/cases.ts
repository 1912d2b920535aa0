import { casesOf, type Stage } from '../../../../test/cases.ts'
import { oneMergeRequest as at } from '../../../../test/merge-requests.ts'
import type { Person } from '../../../forge.ts'

const input = { note: 'A word' }

/** Users find only their own drafts. A user who may not create one tries the owner's. */
async function own(s: Stage, who: Person) {
  const on = await at(s)
  const path = `/projects/${s.project.id}/merge_requests/${on.merge_request_iid}/draft_notes`
  const drafted = await who.post(path, input)
  const draft = drafted.status === 201 ? drafted.body : await s.make(path, input)
  return { ...on, draft_note_id: draft.id as number }
}

export const cases = casesOf(
  `
                                                                                                   anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/merge_requests/:merge_request_iid/draft_notes                         private  401  404  404  404  200  200  200  200  200  401
                                                                                          public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/draft_notes                        private  401  404  404  404  201  201  201  201  201  401
                                                                                          public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id          private  401  404  404  404  200  200  200  200  200  401
                                                                                          public   401  200  200  200  200  200  200  200  200  401
  PUT /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id          private  401  404  404  404  200  200  200  200  200  401
                                                                                          public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id         private  401  404  404  404  200  200  200  200  200  401
                                                                                          public   401  200  200  200  200  200  200  200  200  401
  DELETE /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id       private  401  404  404  404  204  204  204  204  204  401
                                                                                          public   401  204  204  204  204  204  204  204  204  401
  PUT /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id/publish  private  401  404  404  404  204  204  204  204  204  401
                                                                                          public   401  204  204  204  204  204  204  204  204  401
  POST /projects/:id/merge_requests/:merge_request_iid/draft_notes/bulk_publish           private  401  404  404  404  204  204  204  204  204  401
                                                                                          public   401  204  204  204  204  204  204  204  204  401
`,
  {
    'GET /projects/:id/merge_requests/:merge_request_iid/draft_notes': { at },
    'POST /projects/:id/merge_requests/:merge_request_iid/draft_notes': { at, input },
    'GET /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id': { own },
    'PUT /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id': { own, input },
    'POST /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id': { own, input },
    'DELETE /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id': { own },
    'PUT /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id/publish': { own },
    'POST /projects/:id/merge_requests/:merge_request_iid/draft_notes/bulk_publish': { at },
  },
)
