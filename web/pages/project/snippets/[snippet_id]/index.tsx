/** A snippet of a project. */
import { SnippetView, isMine, type Snippet } from '../../../../components/Snippets.tsx'
import { MAINTAINER, mayIn } from '../../../../layout/planning.tsx'
import { projectFrame, type InProject } from '../../../../layout/project.tsx'
import { page as declare } from '../../../../page.ts'

interface Data {
  snippet: Snippet
}

const SNIPPET = '/projects/{id}/snippets/{snippet_id}'

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params }) => ({
    snippet: api.get(SNIPPET, { id: params.id!, snippet_id: params.snippet_id!, render_html: true }),
  }),
  title: ({ snippet }) => snippet.title,
  actions: {
    async destroy({ api, params }) {
      await api.delete(SNIPPET, { id: params.id!, snippet_id: params.snippet_id! })
      return `/${params.id}/-/snippets`
    },
  },
  View: ({ project, snippet, me }) => (
    <SnippetView snippet={snippet} mayChange={isMine(snippet, me) || mayIn(project, me) >= MAINTAINER} />
  ),
})
