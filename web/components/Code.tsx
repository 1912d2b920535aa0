/** A file with a link for each line; a range is named by its first and last line: `#L3-7`. */
import { useEffect } from 'preact/hooks'
import * as t from '../texts/repository.ts'
import './Code.css'

const RANGE = /^#L(\d+)(?:-L?(\d+))?$/

/** Highlights the lines in the URL. */
function markLines(): void {
  const [, from, to = from] = RANGE.exec(location.hash) ?? []
  for (const row of document.querySelectorAll('.code tr')) {
    const line = Number(row.id.slice(1))
    row.toggleAttribute('data-marked', from !== undefined && line >= Number(from) && line <= Number(to))
  }
  if (from !== undefined && to !== from) document.getElementById(`L${from}`)?.scrollIntoView({ block: 'center' })
}

/** Shift-click selects from the previously selected line to this one. */
function extend(event: MouseEvent): void {
  const [, from] = RANGE.exec(location.hash) ?? []
  const line = (event.target as HTMLElement).dataset.line
  if (!event.shiftKey || from === undefined || line === undefined) return
  event.preventDefault()
  const [first, last] = [Number(from), Number(line)].toSorted((a, b) => a - b)
  location.hash = `L${first}-${last}`
}

export function Code({ lines, label }: { lines: readonly string[]; label: string }) {
  useEffect(() => {
    markLines()
    addEventListener('hashchange', markLines)
    return () => removeEventListener('hashchange', markLines)
  }, [])
  return (
    <div class="code-box" tabIndex={0} role="region" aria-label={label}>
      <table class="code" onClick={extend}>
        <tbody>
          {lines.map((line, n) => (
            <tr id={`L${n + 1}`} key={n}>
              <td class="code-number">
                <a href={`#L${n + 1}`} data-line={n + 1} aria-label={t.lineNumber(n + 1)} />
              </td>
              <td class="code-text" dangerouslySetInnerHTML={{ __html: line || '\n' }} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
