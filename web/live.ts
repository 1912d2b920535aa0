/** Live events of the server: several at once render the page once. */
import type { Live, EventFacts } from './page.ts'

const CALM_MS = 250

export function follow({ path, events, about = () => true }: Live, onUpdate: () => unknown): void {
  const source = new EventSource(`/api/v4${path}`)
  let waiting: ReturnType<typeof setTimeout> | undefined
  const onEvent = ({ data }: MessageEvent<string>) => {
    if (!about(JSON.parse(data) as EventFacts)) return
    waiting ??= setTimeout(() => {
      waiting = undefined
      onUpdate()
    }, CALM_MS)
  }
  // Events that were missed for too long are not sent again: `reset` means that everything may have changed.
  for (const event of [...events, 'reset']) source.addEventListener(event, onEvent)
  addEventListener('pagehide', () => source.close())
}
