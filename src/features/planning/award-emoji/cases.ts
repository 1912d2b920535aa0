import { casesOf, type Stage } from '../../../../test/cases.ts'

const issuesOf = (s: Stage) => `/projects/${s.project.id}/issues`
const issue = async (s: Stage, input: Record<string, unknown> = {}) => ({
  issue_iid: (await s.make(issuesOf(s), { title: 'A case', ...input })).iid as number,
})
const confidential = (s: Stage) => issue(s, { confidential: true })
async function note(s: Stage) {
  const at = await issue(s)
  return { ...at, note_id: (await s.make(`${issuesOf(s)}/${at.issue_iid}/notes`, { body: 'x' })).id as number }
}
const snippetsOf = (s: Stage) => `/projects/${s.project.id}/snippets`
const newSnippet = { title: 'A case', file_name: 'a', code: 'x', visibility: 'private' }
const snippet = async (s: Stage) => ({ snippet_id: (await s.make(snippetsOf(s), newSnippet)).id as number })
async function awardedSnippet(s: Stage) {
  const at = await snippet(s)
  const given = await s.make(`${snippetsOf(s)}/${at.snippet_id}/award_emoji`, { name: 'tada' })
  return { ...at, award_id: given.id as number }
}
async function snippetNote(s: Stage) {
  const at = await snippet(s)
  return { ...at, note_id: (await s.make(`${snippetsOf(s)}/${at.snippet_id}/notes`, { body: 'x' })).id as number }
}
async function awardedSnippetNote(s: Stage) {
  const at = await snippetNote(s)
  const path = `${snippetsOf(s)}/${at.snippet_id}/notes/${at.note_id}/award_emoji`
  return { ...at, award_id: (await s.make(path, { name: 'tada' })).id as number }
}
const award = async (s: Stage, path: string) => ({
  award_id: (await s.make(`${issuesOf(s)}/${path}/award_emoji`, { name: 'tada' })).id as number,
})
async function awarded(s: Stage) {
  const at = await issue(s)
  return { ...at, ...(await award(s, `${at.issue_iid}`)) }
}
async function awardedNote(s: Stage) {
  const at = await note(s)
  return { ...at, ...(await award(s, `${at.issue_iid}/notes/${at.note_id}`)) }
}

export const cases = casesOf(
  `
                                                                                       anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/issues/:issue_iid/award_emoji                             private  404  404  404  200  200  200  200  200  200  401
                                                                              public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/issues/:issue_iid/award_emoji                            private  401  404  404  201  201  201  201  201  201  401
                                                                              public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/issues/:issue_iid/award_emoji/:award_id                   private  404  404  404  200  200  200  200  200  200  401
                                                                              public   200  200  200  200  200  200  200  200  200  401
  DELETE /projects/:id/issues/:issue_iid/award_emoji/:award_id                private  401  404  404  401  401  401  401  204  204  401
                                                                              public   401  401  401  401  401  401  401  204  204  401
  GET /projects/:id/issues/:issue_iid/award_emoji (confidential)              private  404  404  404  404  200  200  200  200  200  401
                                                                              public   404  404  404  404  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/notes/:note_id/award_emoji              private  404  404  404  200  200  200  200  200  200  401
                                                                              public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/issues/:issue_iid/notes/:note_id/award_emoji             private  401  404  404  201  201  201  201  201  201  401
                                                                              public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/issues/:issue_iid/notes/:note_id/award_emoji/:award_id    private  404  404  404  200  200  200  200  200  200  401
                                                                              public   200  200  200  200  200  200  200  200  200  401
  DELETE /projects/:id/issues/:issue_iid/notes/:note_id/award_emoji/:award_id private  401  404  404  401  401  401  401  204  204  401
                                                                              public   401  401  401  401  401  401  401  204  204  401
  GET /projects/:id/snippets/:snippet_id/award_emoji                          private  404  404  404  200  200  200  200  200  200  401
                                                                              public   404  404  404  200  200  200  200  200  200  401
  POST /projects/:id/snippets/:snippet_id/award_emoji                         private  401  404  404  201  201  201  201  201  201  401
                                                                              public   401  404  404  201  201  201  201  201  201  401
  GET /projects/:id/snippets/:snippet_id/award_emoji/:award_id                private  404  404  404  200  200  200  200  200  200  401
                                                                              public   404  404  404  200  200  200  200  200  200  401
  DELETE /projects/:id/snippets/:snippet_id/award_emoji/:award_id             private  401  404  404  401  401  401  401  204  204  401
                                                                              public   401  404  404  401  401  401  401  204  204  401
  GET /projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji           private  404  404  404  200  200  200  200  200  200  401
                                                                              public   404  404  404  200  200  200  200  200  200  401
  POST /projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji          private  401  404  404  201  201  201  201  201  201  401
                                                                              public   401  404  404  201  201  201  201  201  201  401
  GET /projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji/:award_id private  404  404  404  200  200  200  200  200  200  401
                                                                              public   404  404  404  200  200  200  200  200  200  401
  DELETE /projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji/:award_id private 401 404 404  401  401  401  401  204  204  401
                                                                              public   401  404  404  401  401  401  401  204  204  401
`,
  {
    'GET /projects/:id/snippets/:snippet_id/award_emoji': { at: snippet },
    'POST /projects/:id/snippets/:snippet_id/award_emoji': { at: snippet, input: { name: 'tada' } },
    'GET /projects/:id/snippets/:snippet_id/award_emoji/:award_id': { at: awardedSnippet },
    'DELETE /projects/:id/snippets/:snippet_id/award_emoji/:award_id': { at: awardedSnippet },
    'GET /projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji': { at: snippetNote },
    'POST /projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji': { at: snippetNote, input: { name: 'tada' } },
    'GET /projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji/:award_id': { at: awardedSnippetNote },
    'DELETE /projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji/:award_id': { at: awardedSnippetNote },
    'GET /projects/:id/issues/:issue_iid/award_emoji': { at: issue },
    'POST /projects/:id/issues/:issue_iid/award_emoji': { at: issue, input: { name: 'tada' } },
    'GET /projects/:id/issues/:issue_iid/award_emoji/:award_id': { at: awarded },
    'DELETE /projects/:id/issues/:issue_iid/award_emoji/:award_id': { at: awarded },
    'GET /projects/:id/issues/:issue_iid/award_emoji (confidential)': { at: confidential },
    'GET /projects/:id/issues/:issue_iid/notes/:note_id/award_emoji': { at: note },
    'POST /projects/:id/issues/:issue_iid/notes/:note_id/award_emoji': { at: note, input: { name: 'tada' } },
    'GET /projects/:id/issues/:issue_iid/notes/:note_id/award_emoji/:award_id': { at: awardedNote },
    'DELETE /projects/:id/issues/:issue_iid/notes/:note_id/award_emoji/:award_id': { at: awardedNote },
  },
)
