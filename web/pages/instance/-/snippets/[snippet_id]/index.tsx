/** A personal snippet. */
import type { Can } from '../../../../../abilities.ts'
import { SnippetView, type Snippet } from '../../../../../components/Snippets.tsx'
import { page as declare } from '../../../../../page.ts'

export const page = declare<{ snippet: Snippet & { can: Can<'snippet'> } }>({
  load({ api, params }) {
    const of = { id: params.snippet_id! }
    return { snippet: api.withAbilities('snippet', of, api.get('/snippets/{id}', { ...of, render_html: true })) }
  },
  title: ({ snippet }) => snippet.title,
  actions: {
    async destroy({ api, params }) {
      await api.delete('/snippets/{id}', { id: params.snippet_id! })
      return '/-/snippets'
    },
  },
  View: ({ snippet }) => <SnippetView snippet={snippet} mayChange={snippet.can.change} />,
})
