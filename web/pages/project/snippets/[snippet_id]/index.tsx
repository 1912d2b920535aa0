/** A snippet of a project. */
import type { Can } from '../../../../abilities.ts'
import { SnippetView, type Snippet } from '../../../../components/Snippets.tsx'
import { projectFrame, type InProject } from '../../../../layout/project.tsx'
import { page as declare } from '../../../../page.ts'

interface Data {
  snippet: Snippet & { can: Can<'projectSnippet'> }
}

const SNIPPET = '/projects/{id}/snippets/{snippet_id}'

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params }) {
    const of = { id: params.id!, snippet_id: params.snippet_id! }
    return { snippet: api.withAbilities('projectSnippet', of, api.get(SNIPPET, { ...of, render_html: true })) }
  },
  title: ({ snippet }) => snippet.title,
  actions: {
    async destroy({ api, params }) {
      await api.delete(SNIPPET, { id: params.id!, snippet_id: params.snippet_id! })
      return `/${params.id}/-/snippets`
    },
  },
  View: ({ snippet }) => <SnippetView snippet={snippet} mayChange={snippet.can.change} />,
})
