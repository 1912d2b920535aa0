/** A page in its frame, with its data; in a browser it can load them anew. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Records } from './api.ts'
import { messagesFor } from './messages.ts'
import type { Drawn, Page } from './page.ts'
import { UndoLine } from './components/UndoLine.tsx'
import { instanceFrame } from './layout/instance.tsx'

/** A form that comes back as it was sent: refused, or only looked at. */
export interface Returned {
  readonly action: string
  readonly values: Readonly<Record<string, string | readonly string[]>>
  /** Why it was refused. */
  readonly fault?: string
  /** One of its texts as it will stand. */
  readonly preview?: { readonly name: string; readonly html: string }
}

export interface Surroundings extends Drawn {
  /** The proof that a post comes from our own page. */
  readonly csrf: string
  readonly returned: Returned | null
  /** To everybody, which are shown now and were not dismissed. */
  readonly messages: readonly Records['BroadcastMessage'][]
  /** What the action before told, shown this once. */
  readonly told: Readonly<Record<string, string>>
  /** Loads the data of the page anew. On the server nothing. */
  reload(): Promise<void>
  /** Runs an action of the page; where it leads elsewhere, the browser goes there. On the server nothing. */
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
