import { Field } from '../../../components/Form.tsx'

export const SearchForm = ({ words }: { words: string }) => (
  <form class="filters" role="search" action="/help" aria-label="Search the documentation">
    <Field name="search" type="search" label="Search the documentation" isQuiet value={words} />
    <button class="button">Search</button>
  </form>
)
