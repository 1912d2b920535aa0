/** What a component can ask about the page around it. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Records } from './api.ts'
import type { Drawn } from './page.ts'

/** A form that is shown again with its values: rejected, or only previewed. */
export interface Returned {
  readonly action: string
  readonly values: Readonly<Record<string, string | readonly string[]>>
  /** Why it was rejected. */
  readonly fault?: string
  /** The preview of one of its texts. */
  readonly preview?: { readonly name: string; readonly html: string }
}

export interface Surroundings extends Drawn {
  /** The CSRF code, which proves that a post comes from our own page. */
  readonly csrf: string
  /** Nothing can be changed: the whole instance is read-only. */
  readonly isReadOnly: boolean
  readonly returned: Returned | null
  /** Broadcast messages that are currently shown and were not dismissed. */
  readonly messages: readonly Records['BroadcastMessage'][]
  /** Flash messages of the previous action, shown once. */
  readonly flash: Readonly<Record<string, string>>
  /** Reloads the data of the page. Does nothing on the server. */
  reload(): Promise<void>
  /** Runs an action of the page; if it redirects, the browser goes there. Does nothing on the server. */
  act(action: string, form: FormData): Promise<void>
}

export const SurroundingsContext = createContext<Surroundings | null>(null)

export const useSurroundings = (): Surroundings => useContext(SurroundingsContext)!
