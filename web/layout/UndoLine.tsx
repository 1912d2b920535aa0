/** What the previous action did, with an undo button. */
import { useEffect, useState } from 'preact/hooks'
import { useSurroundings } from '../surroundings.ts'
import type { FlashLink, Undo } from '../undo.ts'
import { Button, Form } from '../components/Form.tsx'
import './UndoLine.css'

export function UndoLine() {
  const { flash } = useSurroundings()
  // Live events of the same action render the page again: the undo button stays until there is another message.
  const [kept, keep] = useState(flash)
  useEffect(() => {
    if (flash.done !== undefined) keep(flash)
  }, [flash])
  if (kept.done === undefined) return null
  const undo = kept.undo === undefined ? null : (JSON.parse(kept.undo) as Undo)
  const link = kept.link === undefined ? null : (JSON.parse(kept.link) as FlashLink)
  const forget = () => keep((now) => (now === kept ? {} : now))
  return (
    <div class="undo-line" role="status" onReset={forget}>
      <span>{kept.done}</span>
      {link && <a href={link.href}>{link.text}</a>}
      {undo && (
        <Form action={undo.action} id="undo" class="inline" resets key={kept.undo}>
          {undo.fields.map(([name, value], n) => (
            <input type="hidden" name={name} value={value} key={n} />
          ))}
          <Button>{undo.word}</Button>
        </Form>
      )}
    </div>
  )
}
