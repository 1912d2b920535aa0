/** A personal snippet. */
import { SnippetView, isMine, type Snippet } from '../../../../../components/Snippets.tsx'
import { page as declare } from '../../../../../page.ts'

export const page = declare<{ snippet: Snippet }>({
  load: ({ api, params }) => ({ snippet: api.get('/snippets/{id}', { id: params.snippet_id!, render_html: true }) }),
  title: ({ snippet }) => snippet.title,
  actions: {
    async destroy({ api, params }) {
      await api.delete('/snippets/{id}', { id: params.snippet_id! })
      return '/-/snippets'
    },
  },
  View: ({ snippet, me }) => <SnippetView snippet={snippet} mayChange={isMine(snippet, me)} />,
})
