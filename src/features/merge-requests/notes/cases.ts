import { casesOf, type Stage } from '../../../../test/cases.ts'
import { mergeRequestAt, oneMergeRequest as at, ownMergeRequest } from '../../../../test/merge-requests.ts'

const pathOf = (s: Stage, { merge_request_iid }: { merge_request_iid: number }) =>
  `/projects/${s.project.id}/merge_requests/${merge_request_iid}`
const input = { body: 'A word' }
const internal = { ...input, internal: true }
const emoji = { name: 'rocket' }

async function noted(s: Stage) {
  const on = await at(s)
  return { ...on, note_id: (await s.make(`${pathOf(s, on)}/notes`, input)).id as number }
}
async function notedInside(s: Stage) {
  const on = await at(s)
  return { ...on, note_id: (await s.make(`${pathOf(s, on)}/notes`, internal)).id as number }
}
async function locked(s: Stage) {
  const on = await ownMergeRequest(s)
  await s.owner.put(pathOf(s, on), { discussion_locked: true })
  return on
}
async function discussed(s: Stage) {
  const on = await at(s)
  const { id, notes } = await s.make(`${pathOf(s, on)}/discussions`, input)
  return { ...on, discussion_id: id as string, note_id: notes[0].id as number }
}
async function awarded(s: Stage) {
  const on = await ownMergeRequest(s)
  return { ...on, award_id: (await s.make(`${pathOf(s, on)}/award_emoji`, emoji)).id as number }
}
async function awardedNote(s: Stage) {
  const on = await noted(s)
  return { ...on, award_id: (await s.make(`${pathOf(s, on)}/notes/${on.note_id}/award_emoji`, emoji)).id as number }
}
const happened = (kind: string) => async (s: Stage) => {
  const milestone = await s.make(`/projects/${s.project.id}/milestones`, { title: `Events ${Math.random()}` })
  const { iid } = await mergeRequestAt(s, { labels: 'events', milestone_id: milestone.id })
  const on = { merge_request_iid: iid as number }
  await s.owner.put(pathOf(s, on), { state_event: 'close' })
  const { body } = await s.owner.get(`${pathOf(s, on)}/resource_${kind}_events`)
  return { ...on, event_id: body[0].id as number }
}

export const cases = casesOf(
  `
                                                                                                                     anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/merge_requests/:merge_request_iid/notes                                                 private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/notes                                                private  401  404  404  404  201  201  201  201  201  401
                                                                                                            public   401  201  201  201  201  201  201  201  201  401
  POST /projects/:id/merge_requests/:merge_request_iid/notes (locked)                                       private  401  404  404  404  201  201  201  201  201  401
                                                                                                            public   401  403  403  201  201  201  201  201  201  401
  GET /projects/:id/merge_requests/:merge_request_iid/notes/:note_id                                        private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/notes (internal)                                     private  401  404  404  404  201  201  201  201  201  401
                                                                                                            public   401  403  403  403  201  201  201  201  201  401
  GET /projects/:id/merge_requests/:merge_request_iid/notes/:note_id (internal)                             private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  404  404  404  200  200  200  200  200  401
  PUT /projects/:id/merge_requests/:merge_request_iid/notes/:note_id                                        private  401  404  404  404  403  403  200  200  200  401
                                                                                                            public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/merge_requests/:merge_request_iid/notes/:note_id                                     private  401  404  404  404  403  403  204  204  204  401
                                                                                                            public   401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/merge_requests/:merge_request_iid/discussions                                           private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/discussions                                          private  401  404  404  404  201  201  201  201  201  401
                                                                                                            public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id                            private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  PUT /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id                            private  401  404  404  404  403  200  200  200  200  401
                                                                                                            public   401  403  403  403  403  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes                     private  401  404  404  404  201  201  201  201  201  401
                                                                                                            public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id             private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  PUT /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id             private  401  404  404  404  403  403  200  200  200  401
                                                                                                            public   401  403  403  403  403  403  200  200  200  401
  PUT /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id (resolved)  private  401  404  404  404  403  200  200  200  200  401
                                                                                                            public   401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id          private  401  404  404  404  403  403  204  204  204  401
                                                                                                            public   401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/merge_requests/:merge_request_iid/award_emoji                                           private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/award_emoji                                          private  401  404  404  404  201  201  201  201  201  401
                                                                                                            public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/merge_requests/:merge_request_iid/award_emoji/:award_id                                 private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  DELETE /projects/:id/merge_requests/:merge_request_iid/award_emoji/:award_id                              private  401  404  404  404  401  401  401  204  204  401
                                                                                                            public   401  401  401  401  401  401  401  204  204  401
  GET /projects/:id/merge_requests/:merge_request_iid/notes/:note_id/award_emoji                            private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/notes/:note_id/award_emoji                           private  401  404  404  404  201  201  201  201  201  401
                                                                                                            public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/merge_requests/:merge_request_iid/notes/:note_id/award_emoji/:award_id                  private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  DELETE /projects/:id/merge_requests/:merge_request_iid/notes/:note_id/award_emoji/:award_id               private  401  404  404  404  401  401  401  204  204  401
                                                                                                            public   401  401  401  401  401  401  401  204  204  401
  GET /projects/:id/merge_requests/:merge_request_iid/resource_label_events                                 private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/resource_label_events/:event_id                       private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/resource_state_events                                 private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/resource_state_events/:event_id                       private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/resource_milestone_events                             private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/resource_milestone_events/:event_id                   private  401  404  404  404  200  200  200  200  200  401
                                                                                                            public   401  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/merge_requests/:merge_request_iid/notes': { at },
    'POST /projects/:id/merge_requests/:merge_request_iid/notes': { at, input },
    'POST /projects/:id/merge_requests/:merge_request_iid/notes (locked)': { at: locked, input },
    'GET /projects/:id/merge_requests/:merge_request_iid/notes/:note_id': { at: noted },
    'POST /projects/:id/merge_requests/:merge_request_iid/notes (internal)': { at, input: internal },
    'GET /projects/:id/merge_requests/:merge_request_iid/notes/:note_id (internal)': { at: notedInside },
    'PUT /projects/:id/merge_requests/:merge_request_iid/notes/:note_id': { at: noted, input },
    'DELETE /projects/:id/merge_requests/:merge_request_iid/notes/:note_id': { at: noted },
    'GET /projects/:id/merge_requests/:merge_request_iid/discussions': { at },
    'POST /projects/:id/merge_requests/:merge_request_iid/discussions': { at, input },
    'GET /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id': { at: discussed },
    'PUT /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id': {
      at: discussed,
      input: { resolved: true },
    },
    'POST /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes': { at: discussed, input },
    'GET /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id': { at: discussed },
    'PUT /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id': {
      at: discussed,
      input,
    },
    'PUT /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id (resolved)': {
      at: discussed,
      input: { resolved: true },
    },
    'DELETE /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id': {
      at: discussed,
    },
    'GET /projects/:id/merge_requests/:merge_request_iid/award_emoji': { at },
    'POST /projects/:id/merge_requests/:merge_request_iid/award_emoji': { at: ownMergeRequest, input: emoji },
    'GET /projects/:id/merge_requests/:merge_request_iid/award_emoji/:award_id': { at: awarded },
    'DELETE /projects/:id/merge_requests/:merge_request_iid/award_emoji/:award_id': { at: awarded },
    'GET /projects/:id/merge_requests/:merge_request_iid/notes/:note_id/award_emoji': { at: noted },
    'POST /projects/:id/merge_requests/:merge_request_iid/notes/:note_id/award_emoji': { at: noted, input: emoji },
    'GET /projects/:id/merge_requests/:merge_request_iid/notes/:note_id/award_emoji/:award_id': { at: awardedNote },
    'DELETE /projects/:id/merge_requests/:merge_request_iid/notes/:note_id/award_emoji/:award_id': { at: awardedNote },
    'GET /projects/:id/merge_requests/:merge_request_iid/resource_label_events': { at: happened('label') },
    'GET /projects/:id/merge_requests/:merge_request_iid/resource_label_events/:event_id': { at: happened('label') },
    'GET /projects/:id/merge_requests/:merge_request_iid/resource_state_events': { at: happened('state') },
    'GET /projects/:id/merge_requests/:merge_request_iid/resource_state_events/:event_id': { at: happened('state') },
    'GET /projects/:id/merge_requests/:merge_request_iid/resource_milestone_events': { at: happened('milestone') },
    'GET /projects/:id/merge_requests/:merge_request_iid/resource_milestone_events/:event_id': {
      at: happened('milestone'),
    },
  },
)
