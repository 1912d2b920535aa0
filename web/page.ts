/** One declaration is a whole page: the calls it needs, its components, and its form actions. */
// Before the styles of components, which override shared ones of the same specificity.
import './styles/index.css'
import type { ComponentChildren, ComponentType } from 'preact'
import type { Api, Records } from './api.ts'

export type Me = Records['OwnUser']

/** The request for a page. Everything worth keeping is in the URL. */
export interface PageRequest {
  /** Parts of the URL by name. For a project or a group, `id` is its full path, which the API accepts too. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Path and query, as in the browser. */
  readonly address: string
  readonly api: Api
  readonly me: Me | null
}

/** The values of a form. A file is a `File` in the browser, and the spooled upload on the server. */
export type FormFields = Readonly<Record<string, string | string[] | Blob | undefined>>

export interface Act extends PageRequest {
  readonly form: FormFields
}

/** A message of an action that is shown once, such as a new secret: it appears on the next page, and in no URL. */
export interface Flash {
  readonly flash: Readonly<Record<string, string>>
  /** Then the page answers the post directly: sending the form again does no harm. */
  readonly changedNothing?: boolean
  /** The URL of the next page; by default the same page. */
  readonly to?: string
}

export interface Drawn {
  readonly params: PageRequest['params']
  readonly query: URLSearchParams
  readonly address: string
  readonly me: Me | null
}

/** The facts of a live event; for notes and pipelines also their commit. */
export interface EventFacts {
  readonly id?: number
  readonly iid?: number
  readonly sha?: string
  readonly by?: number
}

/** The source of live events (`/projects/1/live`), and which events matter. */
export interface Live {
  readonly path: string
  readonly events: readonly string[]
  /** All events matter if absent. */
  readonly about?: (event: EventFacts) => boolean
}

/** `D` is the data of the page itself, `F` the data of its frame: views and titles get both. */
// oxlint-disable-next-line no-explicit-any -- a table contains pages with every kind of data
export interface Page<D extends object = any, F extends object = any> {
  /** Concurrent calls: all entries are awaited together. */
  load(
    request: PageRequest,
  ): { [K in keyof D]: Promise<D[K]> | D[K] } | Promise<{ [K in keyof D]: Promise<D[K]> | D[K] }>
  title(data: F & D, drawn: Drawn): string
  View: ComponentType<F & D & Drawn>
  /** Visitors must sign in first. */
  readonly signedIn?: boolean
  /** Redirects visitors, if it returns a URL. */
  leadVisitors?(api: Api): Promise<string | null>
  /** The frame: of the instance, a project or a group. Its calls run together with those of the page. */
  readonly frame?: Frame<F>
  /**
   * Actions by the name in the form. An action returns the next URL, a flash message, or nothing to render the page
   * again.
   */
  readonly actions?: Readonly<Record<string, (act: Act) => Promise<string | Flash | void>>>
  /** Live events that render the page again. */
  live?(data: F & D, drawn: Drawn): Live | null
  /** For link previews. */
  description?(data: F & D): string | null | undefined
  /** The feed of the page. */
  feed?(data: F & D, drawn: Drawn): string | null
}

// oxlint-disable-next-line no-explicit-any -- as above
export interface Frame<D extends object = any> {
  load(request: PageRequest): { [K in keyof D]: Promise<D[K]> | D[K] }
  title(data: D): string
  View: ComponentType<D & Drawn & { children: ComponentChildren }>
}

/** Pages that read the data of a frame must stand in it. */
type Framed<F extends object> = object extends F ? unknown : { readonly frame: Frame<F> }

export const page = <D extends object, F extends object = object>(declared: Page<D, F> & Framed<F>): Page<D, F> =>
  declared
export const frame = <D extends object>(declared: Frame<D>): Frame<D> => declared

/** One text of a form; empty if it is missing. */
export function text(form: FormFields, name: string): string {
  const value = form[name]
  return typeof value === 'string' ? value : ''
}

/** All texts of a field that may occur several times: `name[]`. */
export function texts(form: FormFields, name: string): string[] {
  const value = form[name]
  return Array.isArray(value) ? value : typeof value === 'string' && value !== '' ? [value] : []
}

/** Awaits all entries of a record of promises together. */
export async function together<D extends object>(parts: { [K in keyof D]: Promise<D[K]> | D[K] }): Promise<D> {
  const names = Object.keys(parts)
  const values = await Promise.all(Object.values(parts))
  return Object.fromEntries(names.map((name, n) => [name, values[n]])) as D
}

/** The project that references and files in a text belong to; null for pages of groups and users. */
export const projectOf = ({ address, params }: Pick<PageRequest, 'address' | 'params'>): string | null =>
  address.startsWith('/groups/') ? null : (params.id ?? null)
