/**
 * The log of a job. Only a part of a long log is on the page: the rest is a link away, and new lines of a running job
 * push the oldest lines out.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Records } from '../../../../api.ts'
import { isSection, keepLast, readLog, type LogItem, type LogLine, type LogSection } from './log.ts'
import { withQuery } from '../../../../query.ts'
import { Duration } from '../../../../components/Time.tsx'
import * as t from '../../../../texts/ci.ts'
import './Log.css'

export type Part = Records['TracePart']

/** Maximum lines on the page. */
const MOST_LINES = 5000
/** How many lines one step goes back: a part of the API. */
const STEP = 1000
/** The polling interval. */
export const OFTEN_MS = 1000
const NAMED_LINE = /^#L(\d+)$/

interface LogProps {
  part: Part
  /** The API path of the log: `/projects/1/jobs/2/trace_part`. */
  path: string
  address: string
  isRunning: boolean
  /** Milliseconds between two polls; null if the page does not poll. */
  pause: number | null
}

interface Visible {
  content: string
  line: number
  end: number
  size: number
}

const shownOf = ({ content, line, end, size }: Part): Visible => ({ content, line: line ?? 1, end, size })

export function Log({ part, path, address, isRunning, pause }: LogProps) {
  const [shown, setShown] = useState(() => shownOf(part))
  // A page that starts at a line stays there; a page that shows the end follows the log.
  const isAtEnd = part.end >= part.size
  const [isFollowing, setFollowing] = useState(isRunning)
  const end = useRef<HTMLDivElement>(null)
  const items = useMemo(() => readLog(shown.content, shown.line), [shown.content, shown.line])
  const lines = shown.content === '' ? 0 : shown.content.replace(/\n$/, '').split('\n').length

  // The log was erased, or is another one.
  useEffect(() => {
    if (part.size < shown.end) setShown(shownOf(part))
  }, [part.size])
  useMore(isAtEnd, { isRunning, pause }, path, shown.end, (more) => setShown((before) => joined(before, more)))
  useNamedLine(address, shown.line, shown.line + lines)
  useEffect(() => {
    if (isFollowing && isRunning && isAtEnd && !location.hash) end.current?.scrollIntoView({ block: 'nearest' })
  }, [shown.end, isFollowing])
  useEffect(() => {
    // Stops following when the user scrolls up.
    const stop = (event: WheelEvent) => event.deltaY < 0 && setFollowing(false)
    addEventListener('wheel', stop, { passive: true })
    return () => removeEventListener('wheel', stop)
  }, [])

  const before = Math.max(1, shown.line - STEP)
  return (
    <div class="log-box">
      {shown.line > 1 && (
        <p class="log-more">
          {t.earlierLinesHidden(shown.line - 1)} <a href={withQuery(address, { line: 1 })}>{t.scrollToTop}</a>{' '}
          <a href={withQuery(address, { line: before })}>{t.earlierLines}</a>
        </p>
      )}
      <div class="log" role="log" aria-label={t.log} aria-live="off" tabIndex={0}>
        <Items of={items} />
      </div>
      {!isAtEnd && (
        <p class="log-more">
          <a href={withQuery(address, { line: shown.line + lines })}>{t.laterLines}</a>{' '}
          <a href={withQuery(address, { line: null })}>{t.scrollToBottom}</a>
        </p>
      )}
      <div class="log-end" ref={end}>
        {isRunning && isAtEnd && pause !== null && (
          <label class="row">
            <input
              type="checkbox"
              checked={isFollowing}
              onChange={(event) => setFollowing(event.currentTarget.checked)}
            />
            {t.followLog}
          </label>
        )}
      </div>
    </div>
  )
}

function joined(before: Visible, more: Part): Visible {
  if (more.start !== before.end) return before
  const { content, dropped } = keepLast(before.content + more.content, MOST_LINES)
  return { content, line: before.line + dropped, end: more.end, size: more.size }
}

/** Polls for new lines while the job runs, and once more after its end. */
function useMore(
  isFollowing: boolean,
  { isRunning, pause }: Pick<LogProps, 'isRunning' | 'pause'>,
  path: string,
  from: number,
  onMore: (part: Part) => void,
) {
  const at = useRef(from)
  at.current = from
  useEffect(() => {
    const next = isRunning ? pause : null
    if (!isFollowing || (isRunning && next === null)) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const askAfter = (ms: number) => {
      timer = setTimeout(() => void ask(), ms)
    }
    const ask = async () => {
      // The page is not visible.
      if (document.hidden) return askAfter(OFTEN_MS)
      const answer = await fetch(`/api/v4${path}?start=${at.current}`).catch(() => null)
      if (isOver) return
      const part = answer?.ok ? ((await answer.json()) as Part) : null
      if (part && part.content !== '') onMore(part)
      const hasMore = part !== null && part.end < part.size
      if (hasMore) askAfter(0)
      else if (next !== null) askAfter(next)
    }
    askAfter(next ?? 0)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [isFollowing, isRunning, pause, path])
}

/** A URL that names a line outside the page leads to the part with that line. */
function useNamedLine(address: string, first: number, after: number) {
  useEffect(() => {
    const look = () => {
      const number = Number(NAMED_LINE.exec(location.hash)?.[1] ?? Number.NaN)
      if (Number.isNaN(number)) return
      const line = document.getElementById(`L${number}`)
      for (let box = line?.closest('details'); box; box = box.parentElement?.closest('details')) box.open = true
      if (line) line.scrollIntoView({ block: 'center' })
      else if (number < first || number >= after) leadTo(address, number)
    }
    look()
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
}

function leadTo(address: string, number: number): void {
  const next = withQuery(address, { line: Math.max(1, number - 20) })
  // If the log is shorter than that, this would reload for ever.
  if (!new URLSearchParams(address.split('?')[1]).has('line')) location.replace(`${next}#L${number}`)
}

const Items = ({ of }: { of: readonly LogItem[] }) => (
  <>
    {of.map((item) =>
      isSection(item) ? <Section of={item} key={item.head.number} /> : <Line of={item} key={item.number} />,
    )}
  </>
)

const Section = ({ of: { head, isCollapsed, seconds, items, name } }: { of: LogSection }) => (
  <details class="log-section" open={!isCollapsed}>
    <summary id={`L${head.number}`}>
      <span class="log-number">{head.number}</span>
      <span class="log-text">{head.runs.length > 0 ? <Runs of={head} /> : name.replaceAll('_', ' ')}</span>
      {seconds !== null && (
        <span class="log-time">
          <Duration seconds={seconds} />
        </span>
      )}
    </summary>
    <Items of={items} />
  </details>
)

const Line = ({ of }: { of: LogLine }) => (
  <div class="log-line" id={`L${of.number}`}>
    <a class="log-number" href={`#L${of.number}`}>
      {of.number}
    </a>
    <span class="log-text">
      <Runs of={of} />
    </span>
  </div>
)

const Runs = ({ of }: { of: LogLine }) => (
  <>
    {of.runs.map(({ text, look }, n) =>
      look === '' ? (
        text
      ) : (
        <span class={look} key={n}>
          {text}
        </span>
      ),
    )}
  </>
)
