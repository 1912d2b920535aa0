/** Edits a personal snippet. */
import { SnippetForm, changedSnippetOf, type Snippet } from '../../../../../components/Snippets.tsx'
import { page as declare } from '../../../../../page.ts'
import { pathOf } from '../../../../../refs.ts'
import * as t from '../../../../../texts/snippets.ts'

export const page = declare<{ snippet: Snippet }>({
  signedIn: true,
  load: ({ api, params }) => ({ snippet: api.get('/snippets/{id}', { id: params.snippet_id!, render_html: true }) }),
  title: ({ snippet }) => t.editTitle(snippet.title),
  actions: {
    async change({ api, params, form }) {
      return pathOf((await api.put('/snippets/{id}', { id: params.snippet_id!, ...changedSnippetOf(form) })).web_url)
    },
  },
  View: ({ snippet }) => (
    <>
      <h1>{t.editSnippet}</h1>
      <SnippetForm action="change" snippet={snippet} />
    </>
  ),
})
