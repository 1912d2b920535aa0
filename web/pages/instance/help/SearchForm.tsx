import { Field } from '../../../components/Form.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/help.ts'

export const SearchForm = ({ words }: { words: string }) => (
  <form class="filters" role="search" action="/help" aria-label={t.searchDocumentation}>
    <Field name="search" type="search" label={t.searchDocumentation} isQuiet value={words} />
    <button class="button">{common.search}</button>
  </form>
)
