/** A page with its frame and data; in a browser it can reload them. */
import { messagesFor } from './messages.ts'
import type { Page } from './page.ts'
import { SurroundingsContext, type Surroundings } from './surroundings.ts'
import { UndoLine } from './layout/UndoLine.tsx'
import { instanceFrame } from './layout/instance.tsx'

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
    <SurroundingsContext.Provider value={{ ...surroundings, messages: messagesFor(surroundings, data) }}>
      <frame.View {...data} {...drawn}>
        <UndoLine />
        <View {...data} {...drawn} />
      </frame.View>
    </SurroundingsContext.Provider>
  )
}
