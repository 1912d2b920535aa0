import { casesOf, type Stage } from '../../../../test/cases.ts'

const issue = async (s: Stage, input: Record<string, unknown> = {}) => ({
  issue_iid: (await s.make(`/projects/${s.project.id}/issues`, { title: 'A case', ...input })).iid as number,
})
const confidential = (s: Stage) => issue(s, { confidential: true })

async function noted(s: Stage, input: Record<string, unknown> = {}) {
  const at = await issue(s)
  const note = await s.make(`/projects/${s.project.id}/issues/${at.issue_iid}/notes`, { body: 'x', ...input })
  return { ...at, note_id: note.id as number }
}
const internal = (s: Stage) => noted(s, { internal: true })
async function locked(s: Stage) {
  const at = await issue(s)
  await s.owner.put(`/projects/${s.project.id}/issues/${at.issue_iid}`, { discussion_locked: true })
  return at
}
const snippet = async (s: Stage, visibility = 'private') => ({
  snippet_id: (
    await s.make(`/projects/${s.project.id}/snippets`, { title: 'A case', file_name: 'a', code: 'x', visibility })
  ).id as number,
})
const publicSnippet = (s: Stage) => snippet(s, 'public')
async function notedSnippet(s: Stage) {
  const at = await snippet(s)
  const note = await s.make(`/projects/${s.project.id}/snippets/${at.snippet_id}/notes`, { body: 'x' })
  return { ...at, note_id: note.id as number }
}
const input = { body: 'A word' }

export const cases = casesOf(
  `
                                                                          anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/issues/:issue_iid/notes                       private  404  404  404  200  200  200  200  200  200  401
                                                                  public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/notes (confidential)        private  404  404  404  404  200  200  200  200  200  401
                                                                  public   404  404  404  404  200  200  200  200  200  401
  POST /projects/:id/issues/:issue_iid/notes                      private  401  404  404  201  201  201  201  201  201  401
                                                                  public   401  201  201  201  201  201  201  201  201  401
  POST /projects/:id/issues/:issue_iid/notes (confidential)       private  401  404  404  404  201  201  201  201  201  401
                                                                  public   401  404  404  404  201  201  201  201  201  401
  POST /projects/:id/issues/:issue_iid/notes (internal)           private  401  404  404  403  201  201  201  201  201  401
                                                                  public   401  403  403  403  201  201  201  201  201  401
  POST /projects/:id/issues/:issue_iid/notes (locked)             private  401  404  404  201  201  201  201  201  201  401
                                                                  public   401  403  403  201  201  201  201  201  201  401
  GET /projects/:id/issues/:issue_iid/notes/:note_id              private  404  404  404  200  200  200  200  200  200  401
                                                                  public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/notes/:note_id (internal)   private  404  404  404  404  200  200  200  200  200  401
                                                                  public   404  404  404  404  200  200  200  200  200  401
  PUT /projects/:id/issues/:issue_iid/notes/:note_id              private  401  404  404  403  403  403  200  200  200  401
                                                                  public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/issues/:issue_iid/notes/:note_id           private  401  404  404  403  403  403  204  204  204  401
                                                                  public   401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/snippets/:snippet_id/notes                    private  404  404  404  200  200  200  200  200  200  401
                                                                  public   404  404  404  200  200  200  200  200  200  401
  GET /projects/:id/snippets/:snippet_id/notes (public)           private  404  404  404  200  200  200  200  200  200  401
                                                                  public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/snippets/:snippet_id/notes                   private  401  404  404  201  201  201  201  201  201  401
                                                                  public   401  404  404  201  201  201  201  201  201  401
  POST /projects/:id/snippets/:snippet_id/notes (public)          private  401  404  404  201  201  201  201  201  201  401
                                                                  public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/snippets/:snippet_id/notes/:note_id           private  404  404  404  200  200  200  200  200  200  401
                                                                  public   404  404  404  200  200  200  200  200  200  401
  PUT /projects/:id/snippets/:snippet_id/notes/:note_id           private  401  404  404  403  403  403  200  200  200  401
                                                                  public   401  404  404  403  403  403  200  200  200  401
  DELETE /projects/:id/snippets/:snippet_id/notes/:note_id        private  401  404  404  403  403  403  204  204  204  401
                                                                  public   401  404  404  403  403  403  204  204  204  401
`,
  {
    'GET /projects/:id/snippets/:snippet_id/notes': { at: snippet },
    'GET /projects/:id/snippets/:snippet_id/notes (public)': { at: publicSnippet },
    'POST /projects/:id/snippets/:snippet_id/notes': { at: snippet, input },
    'POST /projects/:id/snippets/:snippet_id/notes (public)': { at: publicSnippet, input },
    'GET /projects/:id/snippets/:snippet_id/notes/:note_id': { at: notedSnippet },
    'PUT /projects/:id/snippets/:snippet_id/notes/:note_id': { at: notedSnippet, input },
    'DELETE /projects/:id/snippets/:snippet_id/notes/:note_id': { at: notedSnippet },
    'GET /projects/:id/issues/:issue_iid/notes': { at: issue },
    'GET /projects/:id/issues/:issue_iid/notes (confidential)': { at: confidential },
    'POST /projects/:id/issues/:issue_iid/notes': { at: issue, input },
    'POST /projects/:id/issues/:issue_iid/notes (confidential)': { at: confidential, input },
    'POST /projects/:id/issues/:issue_iid/notes (internal)': { at: issue, input: { ...input, internal: true } },
    'POST /projects/:id/issues/:issue_iid/notes (locked)': { at: locked, input },
    'GET /projects/:id/issues/:issue_iid/notes/:note_id': { at: noted },
    'GET /projects/:id/issues/:issue_iid/notes/:note_id (internal)': { at: internal },
    'PUT /projects/:id/issues/:issue_iid/notes/:note_id': { at: noted, input },
    'DELETE /projects/:id/issues/:issue_iid/notes/:note_id': { at: noted },
  },
)
