/** Shows errors of a CI file while the user types. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Records } from '../../../api.ts'
import { useSurroundings } from '../../../surroundings.ts'
import { lint, reasonOf } from '../../../browser.ts'
import { State } from '../../../components/State.tsx'
import * as t from '../../../texts/ci.ts'
import './LiveCheck.css'

/** The pause in typing before a check, in milliseconds. */
const PAUSE_MS = 600

type Message = { readonly of: string; readonly lint: Records['Lint'] } | { readonly of: string; readonly fault: string }

/** Checks the field of this name in the surrounding form. */
export function LiveCheck({ name, project }: { name: string; project: string }) {
  const { csrf } = useSurroundings()
  const place = useRef<HTMLDivElement>(null)
  const [said, say] = useState<Message | null>(null)
  const [isAsking, setAsking] = useState(false)
  useEffect(() => {
    const area = place.current!.closest('form')!.elements.namedItem(name) as HTMLTextAreaElement
    let waiting: ReturnType<typeof setTimeout> | undefined
    let asked: AbortController | undefined
    const check = async () => {
      asked = new AbortController()
      const { signal } = asked
      const of = area.value
      setAsking(true)
      try {
        say({ of, lint: await lint(csrf, project, of, signal) })
      } catch (error) {
        if (!signal.aborted) say({ of, fault: reasonOf(error) })
      }
      if (!signal.aborted) setAsking(false)
    }
    const hear = () => {
      clearTimeout(waiting)
      // A running check is about an outdated text.
      asked?.abort()
      waiting = setTimeout(() => void check(), PAUSE_MS)
    }
    area.addEventListener('input', hear)
    return () => {
      clearTimeout(waiting)
      asked?.abort()
      area.removeEventListener('input', hear)
    }
  }, [name, project])
  return (
    <div class="ci-live" ref={place} role="status" aria-busy={isAsking}>
      {said && <Outcome said={said} name={name} />}
      {isAsking && <p class="quiet">{t.validating}</p>}
    </div>
  )
}

function Outcome({ said, name }: { said: Message; name: string }) {
  if ('fault' in said) return <p class="fault">{t.validationFailedFault(said.fault)}</p>
  const { valid, errors, warnings, merged_yaml } = said.lint
  return (
    <>
      <p>
        <State of={valid ? 'success' : 'failed'} isShort /> {valid ? t.valid : t.invalid}
      </p>
      <ul class="ci-live-faults">
        {errors.map((error) => (
          <li class="fault" key={error}>
            <Scope of={error} text={said.of} name={name} /> {error}
          </li>
        ))}
        {warnings.map((warning) => (
          <li class="quiet" key={warning}>
            <Scope of={warning} text={said.of} name={name} /> {warning}
          </li>
        ))}
      </ul>
      {merged_yaml && (
        <details>
          <summary>{t.fullConfigurationWithAllIncludes}</summary>
          <pre class="ci-bounded" tabIndex={0} aria-label={t.allIncludes}>
            {merged_yaml}
          </pre>
        </details>
      )}
    </>
  )
}

/** Syntax errors name a line; errors of a job name the job. */
export function lineOf(fault: string, text: string): number | null {
  const told = /\bline (\d+)/i.exec(fault)
  if (told) return Number(told[1])
  const [, one, other] = /^jobs[: ]([^\s:]+)|^([^\s:]+) job:/.exec(fault) ?? []
  const job = one ?? other
  if (!job) return null
  const at = text.split('\n').findIndex((line) => line.startsWith(`${job}:`) || line.startsWith(`"${job}":`))
  return at < 0 ? null : at + 1
}

function Scope({ of, text, name }: { of: string; text: string; name: string }) {
  const line = lineOf(of, text)
  if (line === null) return null
  const go = (event: MouseEvent & { currentTarget: HTMLButtonElement }) => {
    const area = event.currentTarget.form!.elements.namedItem(name) as HTMLTextAreaElement
    const lines = area.value.split('\n')
    const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
    area.focus()
    area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
    area.scrollTop = (area.scrollHeight / Math.max(1, lines.length)) * Math.max(0, line - 5)
  }
  return (
    <button type="button" class="plain" onClick={go}>
      {t.lineNumber(line)}
    </button>
  )
}
