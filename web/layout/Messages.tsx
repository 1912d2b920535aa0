/** The notice of read-only mode, and broadcast messages of administrators. */
import { useEffect, useState } from 'preact/hooks'
import { useSurroundings } from '../surroundings.ts'
import { dismiss } from '../messages.ts'
import { Icon } from '../components/Icon.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/shell.ts'
import './Messages.css'

export function Messages() {
  const { messages, isReadOnly } = useSurroundings()
  const [gone, setGone] = useState<readonly number[]>([])
  // A script remembers dismissed messages: without scripts there is no button.
  const [hasScript, setScript] = useState(false)
  useEffect(() => setScript(true), [])
  const shown = messages.filter(({ id }) => !gone.includes(id))
  if (shown.length === 0 && !isReadOnly) return null
  return (
    <section class="broadcasts" aria-label={common.broadcastMessages}>
      {isReadOnly && (
        <div class="broadcast" data-theme="light" id="read-only">
          <p>{t.instanceIsReadOnly}</p>
        </div>
      )}
      {shown.map((one) => (
        <div class="broadcast" data-theme={one.theme} data-type={one.broadcast_type} key={one.id}>
          <p>{one.message}</p>
          {hasScript && one.dismissable && (
            <button
              class="plain"
              aria-label={t.dismissMessage}
              onClick={() => {
                dismiss(one)
                setGone([...gone, one.id])
              }}
            >
              <Icon name="cross" />
            </button>
          )}
        </div>
      ))}
    </section>
  )
}
