/** Messages of suggestion commits. */

export interface SuggestionWords {
  readonly branch_name: string
  readonly project_name: string
  readonly project_path: string
  readonly username: string
  readonly user_full_name: string
  readonly suggestions_count: string
  readonly files_count: string
  readonly file_paths: string
  readonly file_path: string
  readonly co_authored_by: string
}

const USUAL = 'Apply %{suggestions_count} suggestion(s) to %{files_count} file(s)'

/** Unknown placeholders stay as written. */
export function suggestionMessage(template: string | null, words: SuggestionWords): string {
  const filled = (template || USUAL).replaceAll(/%\{(\w+)\}/g, (written, name: string) =>
    Object.hasOwn(words, name) ? words[name as keyof SuggestionWords] : written,
  )
  return filled.trim()
}
