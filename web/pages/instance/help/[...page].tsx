/** A page of the documentation: `/help/install`, `/help/contexts/ci`. */
import type { Records } from '../../../api.ts'
import { Prose } from '../../../components/State.tsx'
import { page as declare } from '../../../page.ts'
import { SearchForm } from './SearchForm.tsx'
import * as common from '../../../texts/common.ts'

interface Data {
  found: Records['HelpPage']
}

export const page = declare<Data>({
  load: ({ api, params }) => ({
    found: api.get('/application/help/pages/{page}', { page: params['page']! }),
  }),
  title: ({ found }) => `${found.title} - Help`,
  View: ({ found }) => (
    <>
      <p>
        <a href="/help">{common.help}</a>
      </p>
      <h1>{found.title}</h1>
      <SearchForm words="" />
      <Prose html={found.html} />
    </>
  ),
})
