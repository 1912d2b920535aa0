/** The description of an issue. Users who may edit it can check its task boxes in place. */
import { useEffect, useRef } from 'preact/hooks'
import { useSurroundings } from '../../../surroundings.ts'
import { Prose } from '../../../components/State.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'

export function Description({ html, mayTick }: { html: string; mayTick: boolean }) {
  const { act } = useSurroundings()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const boxes = [...box.current!.querySelectorAll<HTMLInputElement>('.task-list-item-checkbox')]
    const tick = (event: Event) => {
      const one = event.currentTarget as HTMLInputElement
      const form = new FormData()
      form.set('index', String(boxes.indexOf(one)))
      form.set('done', String(one.checked))
      for (const other of boxes) other.disabled = true
      // Rejected: shows the text as it was.
      act('tick', form).catch(() => location.reload())
    }
    for (const one of boxes) {
      one.setAttribute('aria-label', one.parentElement?.textContent.trim() ?? t.task)
      one.disabled = !mayTick
      one.addEventListener('change', tick)
    }
    return () => {
      for (const one of boxes) one.removeEventListener('change', tick)
    }
  }, [html, mayTick])
  return (
    <div class="description" ref={box}>
      {html.trim() === '' ? <p class="quiet">{common.noDescription}</p> : <Prose html={html} key={html} />}
    </div>
  )
}
