/**
 * A diff, with collapsible files. Pages can add their own content: next to a file name, in a line, and below a line.
 */
import { Fragment, type ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Records } from '../api.ts'
import { linesOf, markWithin, pairsOf, type DiffLine } from './diff-lines.ts'
import { Icon } from './Icon.tsx'
import * as t from '../texts/repository.ts'
import './Diff.css'

export type DiffFile = Records['Diff']
export type DiffView = 'unified' | 'split'
export type { DiffLine }

export interface DiffSlots {
  /** Next to the name of a file. */
  aside?: (file: DiffFile) => ComponentChildren
  /** In the line, before its text: a button to comment on it. */
  mark?: (file: DiffFile, line: DiffLine) => ComponentChildren
  /** A separate row below the line. */
  below?: (file: DiffFile, line: DiffLine) => ComponentChildren
  /** Where the lines of an omitted file are: a page, and the API's list of diffs with this file alone. */
  whole?: (file: DiffFile, position: number) => { page: string; api?: string }
}

interface DiffProps extends DiffSlots {
  files: readonly DiffFile[]
  view?: DiffView
  /** The index of the first file among all pages: line anchors continue from page to page. */
  first?: number
}

export const Diff = ({ files, view = 'unified', first = 0, ...slots }: DiffProps) => (
  <div class="diffs">
    {files.map((file, n) => (
      <FileDiff key={file.new_path} file={file} position={first + n} view={view} {...slots} />
    ))}
  </div>
)

/** The anchor of a file on its page. */
export const anchorOf = (file: Pick<DiffFile, 'new_path'>) => `file-${encodeURIComponent(file.new_path)}`

export const countChanges = (file: DiffFile) => countIn(linesOf(file.diff))

function countIn(lines: readonly DiffLine[]): { added: number; removed: number } {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return { added: count('added'), removed: count('removed') }
}

interface FileDiffProps extends DiffSlots {
  file: DiffFile
  position: number
  view: DiffView
}

function FileDiff({ file: given, position, view, aside, ...slots }: FileDiffProps) {
  const [loaded, setLoaded] = useState<DiffFile | null>(null)
  const file = loaded ?? given
  const lines = linesOf(file.diff, file.lines_html)
  const { added, removed } = countIn(lines)
  const isLeftOut = file.diff === '' && (file.collapsed || file.too_large)
  return (
    <details class="diff-file" id={anchorOf(file)} open={!file.deleted_file}>
      <summary>
        <Icon name="down" /> <span class="diff-name">{nameOf(file)}</span>
        {noteOf(file) && <span class="badge">{noteOf(file)}</span>}
        {!isLeftOut && <Counts added={added} removed={removed} />}
      </summary>
      {aside && <div class="diff-aside row">{aside(file)}</div>}
      {isLeftOut ? (
        <LeftOut file={file} position={position} onLoad={setLoaded} whole={slots.whole} />
      ) : file.diff === '' || file.diff.startsWith('Binary') ? (
        <p class="diff-note quiet">{file.diff ? t.binaryFileNotShown : t.noContentChanges}</p>
      ) : (
        <div class="diff-lines" tabIndex={0} role="region" aria-label={t.changesInNewPath(file.new_path)}>
          {view === 'split' ? (
            <Split file={file} lines={lines} position={position} {...slots} />
          ) : (
            <Unified file={file} lines={lines} position={position} {...slots} />
          )}
        </div>
      )}
    </details>
  )
}

export const Counts = ({ added, removed }: { added: number; removed: number }) => (
  <span class="diff-counts">
    <span class="good" aria-label={t.linesAdded(added)} role="img">
      +{added}
    </span>{' '}
    <span class="bad" aria-label={t.linesRemoved(removed)} role="img">
      −{removed}
    </span>
  </span>
)

const nameOf = (file: DiffFile) =>
  file.renamed_file && file.old_path !== file.new_path ? `${file.old_path} → ${file.new_path}` : file.new_path

function noteOf(file: DiffFile): string | null {
  if (file.new_file) return 'new'
  if (file.deleted_file) return 'deleted'
  if (file.renamed_file) return 'renamed'
  return file.a_mode === file.b_mode ? null : `${file.a_mode} → ${file.b_mode}`
}

interface LeftOutProps {
  file: DiffFile
  position: number
  onLoad: (file: DiffFile) => void
  whole: DiffSlots['whole']
}

function LeftOut({ file, position, onLoad, whole }: LeftOutProps) {
  const [fault, setFault] = useState<string | null>(null)
  const at = file.too_large ? undefined : whole?.(file, position)
  if (!at) return <p class="diff-note quiet">{t.thisDiffIsTooLarge}</p>
  const load = async (event: Event) => {
    if (!at.api) return
    event.preventDefault()
    const answer = await fetch(at.api)
    const [found] = answer.ok ? ((await answer.json()) as DiffFile[]) : []
    if (found?.diff) onLoad(found)
    else setFault(t.thisDiffIsTooLarge)
  }
  return (
    <p class="diff-note">
      {fault ?? (
        <a class="button" href={at.page} onClick={load}>
          {t.loadDiff}
        </a>
      )}
    </p>
  )
}

interface LinesProps extends Pick<DiffSlots, 'mark' | 'below'> {
  file: DiffFile
  lines: readonly DiffLine[]
  position: number
}

const SIGNS = { same: ' ', added: '+', removed: '-', hunk: '', note: '' } as const

function Unified({ file, lines, position, mark, below }: LinesProps) {
  return (
    <table class="diff">
      <tbody>
        {lines.map((line, n) => (
          <Fragment key={n}>
            {line.kind === 'hunk' || line.kind === 'note' ? (
              <tr data-kind={line.kind}>
                <td colSpan={3}>{line.text}</td>
              </tr>
            ) : (
              <tr data-kind={line.kind} id={lineId(position, line)}>
                <Number of={line.old} to={lineId(position, line)} />
                <Number of={line.new} to={lineId(position, line)} />
                <td class="diff-text" data-sign={SIGNS[line.kind]}>
                  {mark?.(file, line)}
                  <Text of={line} />
                </td>
              </tr>
            )}
            <Below of={below?.(file, line)} span={3} />
          </Fragment>
        ))}
      </tbody>
    </table>
  )
}

function Split({ file, lines, position, mark, below }: LinesProps) {
  const side = (line: DiffLine | null, number: number | null) =>
    line ? (
      <>
        <Number of={number} to={lineId(position, line)} />
        <td class="diff-text" data-kind={line.kind} data-sign={SIGNS[line.kind]}>
          {mark?.(file, line)}
          <Text of={line} />
        </td>
      </>
    ) : (
      <td colSpan={2} class="diff-gap" />
    )
  return (
    <table class="diff" data-view="split">
      <colgroup>
        <col class="diff-numbers" />
        <col />
        <col class="diff-numbers" />
        <col />
      </colgroup>
      <tbody>
        {pairsOf(lines).map(({ left, right }, n) => {
          const line = (right ?? left)!
          if (line.kind === 'hunk' || line.kind === 'note')
            return (
              <tr key={n} data-kind={line.kind}>
                <td colSpan={4}>{line.text}</td>
              </tr>
            )
          return (
            <Fragment key={n}>
              <tr id={lineId(position, line)}>
                {side(left, left?.old ?? null)}
                {side(right, right?.new ?? null)}
              </tr>
              {left && left !== right && <Below of={below?.(file, left)} span={4} />}
              {right && <Below of={below?.(file, right)} span={4} />}
            </Fragment>
          )
        })}
      </tbody>
    </table>
  )
}

const lineId = (position: number, line: DiffLine) => `L${position}-${line.old ?? ''}-${line.new ?? ''}`

/** Rendered from an attribute, so that copied lines contain no numbers. */
const Number = ({ of, to }: { of: number | null; to: string }) => (
  <td class="diff-number">{of !== null && <a href={`#${to}`} data-line={of} aria-label={t.lineNumber(of)} />}</td>
)

function Text({ of: { text, changed, html } }: { of: DiffLine }) {
  const [from, to] = changed ?? [0, 0]
  if (html) return <span dangerouslySetInnerHTML={{ __html: from < to ? markWithin(html, from, to) : html }} />
  if (from >= to) return <span>{text || '\n'}</span>
  return (
    <span>
      {text.slice(0, from)}
      <mark>{text.slice(from, to)}</mark>
      {text.slice(to)}
    </span>
  )
}

const Below = ({ of, span }: { of: ComponentChildren; span: number }) =>
  of === null || of === undefined || of === false ? null : (
    <tr class="diff-below">
      <td colSpan={span}>{of}</td>
    </tr>
  )
