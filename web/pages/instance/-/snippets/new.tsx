/** A new personal snippet. */
import type { Records } from '../../../../api.ts'
import { SnippetForm, newSnippetOf } from '../../../../components/Snippets.tsx'
import { page as declare } from '../../../../page.ts'
import { pathOf } from '../../../../refs.ts'
import * as common from '../../../../texts/common.ts'

interface Data {
  settings: Records['WebSettings']
}

export const page = declare<Data>({
  signedIn: true,
  load: ({ api }) => ({ settings: api.get('/application/web_settings', {}) }),
  title: () => common.newSnippet,
  actions: {
    async create({ api, form }) {
      return pathOf((await api.post('/snippets', newSnippetOf(form))).web_url)
    },
  },
  View: ({ settings }) => (
    <>
      <h1>{common.newSnippet}</h1>
      <SnippetForm action="create" visibility={settings.default_snippet_visibility} />
    </>
  ),
})
