/** One declaration is a whole page: the calls it needs, how it looks, and what its forms do. */
import type { ComponentChildren, ComponentType } from 'preact'
import type { Api, Records } from './api.ts'

export type Me = Records['OwnUser']

/** What a page is asked for. Everything worth keeping is in the address. */
export interface PageRequest {
  /** Parts of the address by name. Of a project or a group, `id` is its full path, which the API takes as well. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Path and query, as it stands in the browser. */
  readonly address: string
  readonly api: Api
  readonly me: Me | null
}

/** What a form holds. A file is the browser's, or what the server spooled of it. */
export type FormFields = Readonly<Record<string, string | string[] | Blob | undefined>>

export interface Act extends PageRequest {
  readonly form: FormFields
}

/** What an action has to tell once, such as a new secret: it stands on the page that follows, and in no address. */
export interface Flash {
  readonly told: Readonly<Record<string, string>>
  /** Then the page answers the post itself: sent again, it does no harm. */
  readonly changedNothing?: boolean
}

export interface Drawn {
  readonly params: PageRequest['params']
  readonly query: URLSearchParams
  readonly address: string
  readonly me: Me | null
}

/** What is told of an event: of notes and pipelines also the commit they are about. */
export interface EventFacts {
  readonly id?: number
  readonly iid?: number
  readonly sha?: string
  readonly by?: number
}

/** Where news come from (`/projects/1/live`), and which of them matter. */
export interface Live {
  readonly path: string
  readonly events: readonly string[]
  /** All that matter, where left out. */
  readonly about?: (event: EventFacts) => boolean
}

// oxlint-disable-next-line no-explicit-any -- a table holds pages of every kind of data
export interface Page<D extends object = any> {
  /** Calls side by side: each entry is awaited, all at once. */
  load(
    request: PageRequest,
  ): { [K in keyof D]: Promise<D[K]> | D[K] } | Promise<{ [K in keyof D]: Promise<D[K]> | D[K] }>
  title(data: D, drawn: Drawn): string
  View: ComponentType<D & Drawn>
  /** Visitors are asked to sign in first. */
  readonly signedIn?: boolean
  /** Where visitors are led instead, if anywhere. */
  leadVisitors?(api: Api): Promise<string | null>
  /** What stands around it: of the instance, a project or a group. The calls of a frame go out with those of the page. */
  readonly frame?: Frame
  /** By the name its form gives. What it returns is the address that follows; nothing draws the page anew; or what is told. */
  readonly actions?: Readonly<Record<string, (act: Act) => Promise<string | Flash | void>>>
  /** What happens elsewhere draws the page anew. */
  live?(data: D, drawn: Drawn): Live | null
  /** For link previews. */
  description?(data: D): string | null | undefined
  /** Feeds that follow the page. */
  feed?(data: D, drawn: Drawn): string | null
}

// oxlint-disable-next-line no-explicit-any -- as above
export interface Frame<D extends object = any> {
  load(request: PageRequest): { [K in keyof D]: Promise<D[K]> | D[K] }
  title(data: D): string
  View: ComponentType<D & Drawn & { children: ComponentChildren }>
}

export const page = <D extends object>(declared: Page<D>): Page<D> => declared
export const frame = <D extends object>(declared: Frame<D>): Frame<D> => declared

/** One text of a form; what is missing is empty. */
export function text(form: FormFields, name: string): string {
  const value = form[name]
  return typeof value === 'string' ? value : ''
}

/** All texts of a field that may be given several times: `name[]`. */
export function texts(form: FormFields, name: string): string[] {
  const value = form[name]
  return Array.isArray(value) ? value : typeof value === 'string' && value !== '' ? [value] : []
}

/** All entries of a record of promises, at once. */
export async function together<D extends object>(parts: { [K in keyof D]: Promise<D[K]> | D[K] }): Promise<D> {
  const names = Object.keys(parts)
  const values = await Promise.all(Object.values(parts))
  return Object.fromEntries(names.map((name, n) => [name, values[n]])) as D
}

/** Whose names, numbers and files a text may speak of: groups and people have none. */
export const projectOf = ({ address, params }: Pick<PageRequest, 'address' | 'params'>): string | null =>
  address.startsWith('/groups/') ? null : (params.id ?? null)
