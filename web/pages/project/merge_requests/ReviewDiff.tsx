/** The diff for review: threads and drafts at their lines, and a form at the commented line. */
import { useEffect, useState } from 'preact/hooks'
import type { Records } from '../../../api.ts'
import { Diff, anchorOf, type DiffFile, type DiffLine, type DiffView } from '../../../components/Diff.tsx'
import { Discussions, type Discussion, type CommentAbilities } from '../../../components/Discussions.tsx'
import { linesOf } from '../../../components/diff-lines.ts'
import { ActButton, Button, Folded, Form, useValue } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { commenting, lineKey, linesText, spotOf, type Shas } from '../../../components/positions.ts'
import { Suggestions } from './Suggestions.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/merge-requests.ts'
import './ReviewDiff.css'

type Draft = Records['DraftNote']

interface ReviewDiffProps extends CommentAbilities {
  files: readonly DiffFile[]
  first: number
  view: DiffView
  shas: Shas
  discussions: readonly Discussion[]
  drafts: readonly Draft[]
  mayApply: boolean
  address: string
  /** The line whose form the URL opens. */
  opened: string | null
  /** Storage key for viewed files, which differs per merge request. */
  memory: string
  /** A fingerprint of each file's content, by path. */
  prints: Record<string, string>
  whole: (file: DiffFile, position: number) => { page: string; api: string }
}

export function ReviewDiff(props: ReviewDiffProps) {
  const { files, shas, discussions, drafts, mayApply, address, memory, ...abilities } = props
  const [opened, setOpened] = useState(props.opened)
  const [start, setStart] = useState<string | null>(null)
  const isViewed = useViewed(memory, files, props.prints)
  const threads = Map.groupBy(discussions, ({ notes }) => spotOf(notes[0]!, shas) ?? '')
  const waiting = Map.groupBy(drafts, (draft) => spotOf(draft, shas) ?? '')

  const mark = (file: DiffFile, line: DiffLine) => {
    const key = lineKey(file, line)
    return (
      <a
        class="diff-mark"
        href={`${commenting(address, key)}#comment-here`}
        aria-label={t.commentOnLine(line.new ?? line.old)}
        onClick={(event) => {
          event.preventDefault()
          const range = event.shiftKey && opened !== null ? rangeIn(file, opened, key) : null
          setStart(range?.start ?? null)
          setOpened(range?.end ?? (opened === key ? null : key))
        }}
      >
        <Icon name="plus" />
      </a>
    )
  }

  const below = (file: DiffFile, line: DiffLine) => {
    if (line.kind === 'hunk' || line.kind === 'note') return null
    const key = lineKey(file, line)
    const here = threads.get(key) ?? []
    const mine = waiting.get(key) ?? []
    if (here.length === 0 && mine.length === 0 && opened !== key) return null
    return (
      <div class="diff-talk">
        {here.length > 0 && (
          <Discussions
            {...abilities}
            discussions={here}
            context={({ notes: [first] }) =>
              first?.position?.line_range && <p class="thread-place quiet">{t.linesNamed(linesText(first.position))}</p>
            }
            extra={(note) => <Suggestions note={note} mayApply={mayApply} />}
          />
        )}
        {mine.map((draft) => (
          <DraftCard draft={draft} key={draft.id} />
        ))}
        {opened === key && (
          <LineForm
            {...{ file, line, shas, address, start }}
            before={linesBefore(file, line)}
            onStart={setStart}
            onDone={() => {
              setOpened(null)
              setStart(null)
            }}
          />
        )}
      </div>
    )
  }

  return (
    <>
      <Overview files={files} isViewed={isViewed.has} />
      <Diff
        files={files}
        first={props.first}
        view={props.view}
        whole={props.whole}
        {...(props.mayComment && { mark })}
        below={below}
        aside={(file) => (
          <label class="row viewed">
            <input
              type="checkbox"
              checked={isViewed.has(file)}
              onChange={(event) => {
                const { checked } = event.currentTarget
                isViewed.set(file, checked)
                if (checked) fold(file)
              }}
            />
            {t.viewed}
          </label>
        )}
      />
    </>
  )
}

const fold = (file: DiffFile) => {
  const element = document.getElementById(anchorOf(file))
  if (element instanceof HTMLDetailsElement) element.open = false
}

/** The file list with links, and the number of viewed files. */
function Overview({ files, isViewed }: { files: readonly DiffFile[]; isViewed: (file: DiffFile) => boolean }) {
  const viewed = files.filter(isViewed).length
  return (
    <details class="diff-overview">
      <summary>
        {t.fileList(files.length)}
        {viewed > 0 && t.viewedCount(viewed)}
      </summary>
      <ul>
        {files.map((file) => (
          <li key={file.new_path}>
            <a href={`#${anchorOf(file)}`}>{file.new_path}</a>
            {isViewed(file) && (
              <>
                {' '}
                <Icon name="check" />
                <span class="spoken">{t.viewedBadge}</span>
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}

const MOST_REMEMBERED = 2000

/** Stored in this browser, by path and content: a changed file must be viewed again. */
function useViewed(memory: string, files: readonly DiffFile[], prints: Record<string, string>) {
  const name = t.viewedMemory(memory)
  const [seen, setSeen] = useState<Record<string, string>>({})
  const printOf = ({ new_path }: DiffFile) => prints[new_path] ?? ''
  useEffect(() => {
    const kept = readKept(name)
    setSeen(kept)
    for (const file of files) if (kept[file.new_path] === printOf(file)) fold(file)
    // Only once: later the user decides which files are collapsed.
  }, [])
  return {
    has: (file: DiffFile) => seen[file.new_path] === printOf(file),
    set(file: DiffFile, isOn: boolean) {
      const { [file.new_path]: _, ...others } = readKept(name)
      const next = isOn ? { ...others, [file.new_path]: printOf(file) } : others
      setSeen(next)
      const entries = Object.entries(next).slice(-MOST_REMEMBERED)
      localStorage.setItem(name, JSON.stringify(Object.fromEntries(entries)))
    },
  }
}

function readKept(name: string): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(name) ?? '{}') as Record<string, string>
  } catch {
    return {}
  }
}

/** The maximum number of lines that a comment can cover. */
const MOST_LINES = 60

/** Lines above one, without a gap, the nearest last. */
function linesBefore(file: DiffFile, line: DiffLine): DiffLine[] {
  const lines = linesOf(file.diff)
  const at = lines.findIndex((one) => lineKey(file, one) === lineKey(file, line))
  const above = lines.slice(Math.max(0, at - MOST_LINES), Math.max(0, at))
  const gap = above.findLastIndex(({ kind }) => kind === 'hunk')
  return above.slice(gap + 1).filter(({ kind }) => kind !== 'note')
}

const startKey = (line: Pick<DiffLine, 'old' | 'new'>) => `${line.old ?? ''}_${line.new ?? ''}`

/** The lines between two, in either order; null if they are too far apart, or in different files. */
function rangeIn(file: DiffFile, one: string, other: string) {
  const lines = linesOf(file.diff)
  const ends = [one, other].map((key) => lines.findIndex((line) => lineKey(file, line) === key))
  if (ends.includes(-1)) return null
  const [first, last] = ends.toSorted((a, b) => a - b).map((at) => lines[at]!)
  const isNear = linesBefore(file, last!).some((line) => startKey(line) === startKey(first!))
  return isNear ? { start: startKey(first!), end: lineKey(file, last!) } : null
}

interface LineFormProps {
  file: DiffFile
  line: DiffLine
  /** Lines above where the comment may start. */
  before: readonly DiffLine[]
  start: string | null
  shas: Shas
  address: string
  onStart: (start: string | null) => void
  onDone: () => void
}

/** Published at once, or kept for the review. The suggestion is sent if it differs from the line. */
function LineForm({ file, line, before, start, shas, address, onStart, onDone }: LineFormProps) {
  const at = before.findIndex((one) => startKey(one) === start)
  const lines = at < 0 ? [line] : [...before.slice(at), line]
  // A removed line cannot be suggested.
  const written = lines.filter((one) => one.new !== null)
  const suggested = written.map(({ text }) => text).join('\n')
  const fields = {
    ...shas,
    old_path: file.old_path,
    new_path: file.new_path,
    old_line: line.old ?? '',
    new_line: line.new ?? '',
    suggestion_was: suggested,
    suggestion_above: written.length - 1,
  }
  return (
    <div class="line-form" id="comment-here" onReset={onDone}>
      <Form action="lineComment" id={lineKey(file, line)} resets>
        {Object.entries(fields).map(([name, value]) => (
          <input type="hidden" name={name} value={value} key={name} />
        ))}
        {before.length > 0 && <FirstLine line={line} before={before} start={start} onStart={onStart} />}
        <WritingArea
          name="body"
          label={t.commentOnLineOfNewPath(line.new ?? line.old, file.new_path)}
          lines={3}
          hasCommands
        />
        {line.new !== null && <Suggestion of={suggested} lines={written.length} />}
        <p class="row">
          <Button name="mode" value="draft">
            {t.addToReview}
          </Button>
          <Button kind="main" name="mode" value="now">
            {t.addCommentNow}
          </Button>
          <a
            href={commenting(address, null)}
            onClick={(event) => {
              event.preventDefault()
              onDone()
            }}
          >
            {common.cancel}
          </a>
        </p>
      </Form>
    </div>
  )
}

type FirstLineProps = Pick<LineFormProps, 'line' | 'before' | 'start' | 'onStart'>

const FirstLine = ({ line, before, start, onStart }: FirstLineProps) => (
  <label class="field line-start">
    <span class="quiet">{common.from}</span>
    <select
      name="start"
      aria-label={t.firstLine}
      onChange={(event) => onStart(event.currentTarget.value || null)}
      value={useValue('start', start)}
    >
      <option value="">{t.lineOnly(line.new ?? line.old)}</option>
      {before.toReversed().map((one) => (
        <option value={startKey(one)} key={startKey(one)}>
          {t.lineText(one.new ?? one.old, one.text.trim().slice(0, 40))}
        </option>
      ))}
    </select>
    <span class="quiet">{t.toLine(line.new ?? line.old)}</span>
  </label>
)

function Suggestion({ of, lines }: { of: string; lines: number }) {
  const shown = useValue('suggestion', of).replaceAll('\r\n', '\n')
  return (
    <details open={shown !== of}>
      <summary>{t.suggestChange}</summary>
      <label class="field">
        <span class="spoken">{t.suggestedLines}</span>
        <textarea name="suggestion" rows={Math.min(12, lines + 1)} defaultValue={shown} key={of} />
      </label>
    </details>
  )
}

/** Visible only to its author until the review is submitted. */
export const DraftCard = ({ draft }: { draft: Draft }) => (
  <article class="draft-note" aria-label={t.pendingComment}>
    <header class="row">
      <span class="badge">{t.pendingOnlyVisibleToYou}</span>
      <ActButton action="publishDraft" id={`publish-${draft.id}`} fields={{ draft_note_id: draft.id }} kind="plain">
        {t.publishNow}
      </ActButton>
      <ActButton
        action="deleteDraft"
        id={`drop-${draft.id}`}
        fields={{ draft_note_id: draft.id }}
        kind="plain"
        label={t.deletePendingComment}
      >
        <Icon name="trash" />
      </ActButton>
    </header>
    {draft.position && (
      <p class="quiet">
        <code>
          {draft.position.new_path}:{linesText(draft.position)}
        </code>
      </p>
    )}
    <p class="draft-text">{draft.note}</p>
    <Folded action="editDraft" id={`edit-draft-${draft.id}`}>
      <summary>{common.edit}</summary>
      <Form action="editDraft" id={`edit-draft-${draft.id}`} resets>
        <input type="hidden" name="draft_note_id" value={draft.id} />
        <WritingArea name="body" label={t.pendingComment} lines={3} isQuiet required value={draft.note} />
        <Button kind="main">{t.saveComment}</Button>
      </Form>
    </Folded>
  </article>
)
