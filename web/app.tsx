/** A page with its frame and data; in a browser it can reload them. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Records } from './api.ts'
import { messagesFor } from './messages.ts'
import type { Drawn, Page } from './page.ts'
import { UndoLine } from './components/UndoLine.tsx'
import { instanceFrame } from './layout/instance.tsx'

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
  readonly returned: Returned | null
  /** Broadcast messages that are currently shown and were not dismissed. */
  readonly messages: readonly Records['BroadcastMessage'][]
  /** Flash messages of the previous action, shown once. */
  readonly told: Readonly<Record<string, string>>
  /** Reloads the data of the page. Does nothing on the server. */
  reload(): Promise<void>
  /** Runs an action of the page; if it redirects, the browser goes there. Does nothing on the server. */
  act(action: string, form: FormData): Promise<void>
}

const Context = createContext<Surroundings | null>(null)

export const useSurroundings = (): Surroundings => useContext(Context)!

interface AppProps {
  page: Page
  data: object
  surroundings: Surroundings
}

export function App({ page, data, surroundings }: AppProps) {
  const { View, frame = instanceFrame } = page
  const { params, query, address, me } = surroundings
  const drawn = { params, query, address, me }
  return (
    <Context.Provider value={{ ...surroundings, messages: messagesFor(surroundings, data) }}>
      <frame.View {...data} {...drawn}>
        <UndoLine />
        <View {...data} {...drawn} />
      </frame.View>
    </Context.Provider>
  )
}
