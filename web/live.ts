/** News of the server, as they come: many at once draw the page once. */
import type { Live, EventFacts } from './page.ts'

const CALM_MS = 250

export function follow({ path, events, about = () => true }: Live, onNews: () => unknown): void {
  const source = new EventSource(`/api/v4${path}`)
  let waiting: ReturnType<typeof setTimeout> | undefined
  const hear = ({ data }: MessageEvent<string>) => {
    if (!about(JSON.parse(data) as EventFacts)) return
    waiting ??= setTimeout(() => {
      waiting = undefined
      onNews()
    }, CALM_MS)
  }
  // What was missed for too long is not told again: then everything may have changed.
  for (const event of [...events, 'reset']) source.addEventListener(event, hear)
  addEventListener('pagehide', () => source.close())
}
