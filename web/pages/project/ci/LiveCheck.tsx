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
  const anchor = useRef<HTMLDivElement>(null)
  const [message, setMessage] = useState<Message | null>(null)
  const [isAsking, setAsking] = useState(false)
  useEffect(() => {
    const area = anchor.current!.closest('form')!.elements.namedItem(name) as HTMLTextAreaElement
    let waiting: ReturnType<typeof setTimeout> | undefined
    let request: AbortController | undefined
    const check = async () => {
      request = new AbortController()
      const { signal } = request
      const of = area.value
      setAsking(true)
      try {
        setMessage({ of, lint: await lint(csrf, project, of, signal) })
      } catch (error) {
        if (!signal.aborted) setMessage({ of, fault: reasonOf(error) })
      }
      if (!signal.aborted) setAsking(false)
    }
    const onInput = () => {
      clearTimeout(waiting)
      // A running check is about an outdated text.
      request?.abort()
      waiting = setTimeout(() => void check(), PAUSE_MS)
    }
    area.addEventListener('input', onInput)
    return () => {
      clearTimeout(waiting)
      request?.abort()
      area.removeEventListener('input', onInput)
    }
  }, [name, project])
  return (
    <div class="ci-live" ref={anchor} role="status" aria-busy={isAsking}>
      {message && <Outcome message={message} name={name} />}
      {isAsking && <p class="quiet">{t.validating}</p>}
    </div>
  )
}

function Outcome({ message, name }: { message: Message; name: string }) {
  if ('fault' in message) return <p class="fault">{t.validationFailedFault(message.fault)}</p>
  const { valid, errors, warnings, merged_yaml } = message.lint
  return (
    <>
      <p>
        <State of={valid ? 'success' : 'failed'} isShort /> {valid ? t.valid : t.invalid}
      </p>
      <ul class="ci-live-faults">
        {errors.map((error) => (
          <li class="fault" key={error}>
            <Scope of={error} text={message.of} name={name} /> {error}
          </li>
        ))}
        {warnings.map((warning) => (
          <li class="quiet" key={warning}>
            <Scope of={warning} text={message.of} name={name} /> {warning}
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
  const match = /\bline (\d+)/i.exec(fault)
  if (match) return Number(match[1])
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
