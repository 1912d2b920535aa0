/** Edits a snippet of a project. */
import { SnippetForm, changedSnippetOf, type Snippet } from '../../../../components/Snippets.tsx'
import { projectFrame, type InProject } from '../../../../layout/project.tsx'
import { page as declare } from '../../../../page.ts'
import { pathOf } from '../../../../refs.ts'
import * as t from '../../../../texts/snippets.ts'

const SNIPPET = '/projects/{id}/snippets/{snippet_id}'

export const page = declare<{ snippet: Snippet }, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: ({ api, params }) => ({
    snippet: api.get(SNIPPET, { id: params.id!, snippet_id: params.snippet_id!, render_html: true }),
  }),
  title: ({ snippet }) => t.editTitle(snippet.title),
  actions: {
    async change({ api, params, form }) {
      const at = { id: params.id!, snippet_id: params.snippet_id! }
      return pathOf((await api.put(SNIPPET, { ...at, ...changedSnippetOf(form) })).web_url)
    },
  },
  View: ({ snippet }) => (
    <>
      <h1>{t.editSnippet}</h1>
      <SnippetForm action="change" snippet={snippet} />
    </>
  ),
})
