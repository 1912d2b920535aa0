/** Form values in the form that the API takes. */
import { text, type FormFields } from './page.ts'

export const flag = (form: FormFields, name: string): boolean => text(form, name) === 'true'

/** Undefined if the field is empty: then it is not sent. */
export const optional = (form: FormFields, name: string): string | undefined => text(form, name).trim() || undefined

export const count = (form: FormFields, name: string): number | undefined => {
  const written = text(form, name).trim()
  return written === '' ? undefined : Number(written)
}

/** One of a few API values; the API rejects all others. */
export const word = <T extends string>(form: FormFields, name: string): T | undefined =>
  optional(form, name) as T | undefined

/** Words separated by commas. */
export const words = (form: FormFields, name: string): string[] =>
  text(form, name)
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** The flags with these names. */
export const flags = <N extends string>(form: FormFields, names: readonly N[]): Record<N, boolean> =>
  Object.fromEntries(names.map((name) => [name, flag(form, name)])) as Record<N, boolean>

/** A chosen file; an empty file field is an empty file. */
export function chosenFile(form: FormFields, name: string): Blob | undefined {
  const value = form[name]
  return typeof value === 'object' && !Array.isArray(value) && value.size !== 0 ? value : undefined
}

/** The page of a list, from the URL. */
export const listPage = (query: URLSearchParams, per_page = 30) => ({
  page: Math.max(1, Number(query.get('page')) || 1),
  per_page,
})
