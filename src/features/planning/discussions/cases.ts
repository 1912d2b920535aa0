import { casesOf, type Params, type Stage } from '../../../../test/cases.ts'

const issue = async (s: Stage) => ({
  issue_iid: (await s.make(`/projects/${s.project.id}/issues`, { title: 'A case' })).iid as number,
})
const commit = () => ({ sha: 'master' })

async function discussed(s: Stage, at: Params, topic: string) {
  const made = await s.make(`/projects/${s.project.id}/${topic}/discussions`, { body: 'x' })
  return { ...at, discussion_id: made.id as string, note_id: made.notes[0].id as number }
}
async function issueDiscussion(s: Stage) {
  const at = await issue(s)
  return discussed(s, at, `issues/${at.issue_iid}`)
}
const commitDiscussion = (s: Stage) => discussed(s, commit(), 'repository/commits/master')
const snippet = async (s: Stage) => ({
  snippet_id: (
    await s.make(`/projects/${s.project.id}/snippets`, {
      title: 'A case',
      file_name: 'a',
      code: 'x',
      visibility: 'private',
    })
  ).id as number,
})
async function snippetDiscussion(s: Stage) {
  const at = await snippet(s)
  return discussed(s, at, `snippets/${at.snippet_id}`)
}
const input = { body: 'A word' }

export const cases = casesOf(
  `
                                                                                                  anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/issues/:issue_iid/discussions                                        private  404  404  404  200  200  200  200  200  200  401
                                                                                         public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/issues/:issue_iid/discussions                                       private  401  404  404  201  201  201  201  201  201  401
                                                                                         public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/issues/:issue_iid/discussions/:discussion_id                         private  404  404  404  200  200  200  200  200  200  401
                                                                                         public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/issues/:issue_iid/discussions/:discussion_id/notes                  private  401  404  404  201  201  201  201  201  201  401
                                                                                         public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/issues/:issue_iid/discussions/:discussion_id/notes/:note_id          private  404  404  404  200  200  200  200  200  200  401
                                                                                         public   200  200  200  200  200  200  200  200  200  401
  PUT /projects/:id/issues/:issue_iid/discussions/:discussion_id/notes/:note_id          private  401  404  404  403  403  403  200  200  200  401
                                                                                         public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/issues/:issue_iid/discussions/:discussion_id/notes/:note_id       private  401  404  404  403  403  403  204  204  204  401
                                                                                         public   401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/repository/commits/:sha/discussions                                  private  404  404  404  403  200  200  200  200  200  401
                                                                                         public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/commits/:sha/discussions                                 private  401  404  404  403  201  201  201  201  201  401
                                                                                         public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/repository/commits/:sha/discussions/:discussion_id                   private  404  404  404  403  200  200  200  200  200  401
                                                                                         public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes            private  401  404  404  403  201  201  201  201  201  401
                                                                                         public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id    private  404  404  404  403  200  200  200  200  200  401
                                                                                         public   200  200  200  200  200  200  200  200  200  401
  PUT /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id    private  401  404  404  403  403  403  200  200  200  401
                                                                                         public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id private  401  404  404  403  403  403  204  204  204  401
                                                                                         public   401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/snippets/:snippet_id/discussions                                     private  404  404  404  200  200  200  200  200  200  401
                                                                                         public   404  404  404  200  200  200  200  200  200  401
  POST /projects/:id/snippets/:snippet_id/discussions                                    private  401  404  404  201  201  201  201  201  201  401
                                                                                         public   401  404  404  201  201  201  201  201  201  401
  GET /projects/:id/snippets/:snippet_id/discussions/:discussion_id                      private  404  404  404  200  200  200  200  200  200  401
                                                                                         public   404  404  404  200  200  200  200  200  200  401
  POST /projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes               private  401  404  404  201  201  201  201  201  201  401
                                                                                         public   401  404  404  201  201  201  201  201  201  401
  GET /projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes/:note_id       private  404  404  404  200  200  200  200  200  200  401
                                                                                         public   404  404  404  200  200  200  200  200  200  401
  PUT /projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes/:note_id       private  401  404  404  403  403  403  200  200  200  401
                                                                                         public   401  404  404  403  403  403  200  200  200  401
  DELETE /projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes/:note_id    private  401  404  404  403  403  403  204  204  204  401
                                                                                         public   401  404  404  403  403  403  204  204  204  401
`,
  {
    'GET /projects/:id/snippets/:snippet_id/discussions': { at: snippet },
    'POST /projects/:id/snippets/:snippet_id/discussions': { at: snippet, input },
    'GET /projects/:id/snippets/:snippet_id/discussions/:discussion_id': { at: snippetDiscussion },
    'POST /projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes': { at: snippetDiscussion, input },
    'GET /projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes/:note_id': { at: snippetDiscussion },
    'PUT /projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes/:note_id': {
      at: snippetDiscussion,
      input,
    },
    'DELETE /projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes/:note_id': { at: snippetDiscussion },
    'GET /projects/:id/issues/:issue_iid/discussions': { at: issue },
    'POST /projects/:id/issues/:issue_iid/discussions': { at: issue, input },
    'GET /projects/:id/issues/:issue_iid/discussions/:discussion_id': { at: issueDiscussion },
    'POST /projects/:id/issues/:issue_iid/discussions/:discussion_id/notes': { at: issueDiscussion, input },
    'GET /projects/:id/issues/:issue_iid/discussions/:discussion_id/notes/:note_id': { at: issueDiscussion },
    'PUT /projects/:id/issues/:issue_iid/discussions/:discussion_id/notes/:note_id': { at: issueDiscussion, input },
    'DELETE /projects/:id/issues/:issue_iid/discussions/:discussion_id/notes/:note_id': { at: issueDiscussion },
    'GET /projects/:id/repository/commits/:sha/discussions': { at: commit },
    'POST /projects/:id/repository/commits/:sha/discussions': { at: commit, input },
    'GET /projects/:id/repository/commits/:sha/discussions/:discussion_id': { at: commitDiscussion },
    'POST /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes': { at: commitDiscussion, input },
    'GET /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id': { at: commitDiscussion },
    'PUT /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id': {
      at: commitDiscussion,
      input,
    },
    'DELETE /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id': { at: commitDiscussion },
  },
)
