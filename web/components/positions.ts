/** Positions of comments in the diff of a merge request. */
import type { Records } from '../api.ts'
import type { DiffFile, DiffLine } from './Diff.tsx'
import { text, type Act } from '../page.ts'
import { withQuery } from '../query.ts'

/** The commits of a diff. */
export interface Shas {
  readonly base_sha: string
  readonly start_sha: string
  readonly head_sha: string
}

type Position = Records['NotePosition']

/** The key of a line in a file: an added line has no old number, a removed one no new number. */
export const lineKey = (file: Pick<DiffFile, 'new_path'>, line: Pick<DiffLine, 'old' | 'new'>) =>
  `${line.old ?? ''}_${line.new ?? ''}_${file.new_path}`

interface Positioned {
  readonly position?: Position | null
  readonly original_position?: Position | null
}

/** The line of a comment in the shown diff; null if the comment belongs to another diff. */
export function spotOf(positioned: Positioned, { head_sha }: Shas): string | null {
  const at = [positioned.position, positioned.original_position].find((position) => position?.head_sha === head_sha)
  if (!at || at.position_type !== 'text') return null
  return lineKey({ new_path: at.new_path ?? at.old_path ?? '' }, { old: at.old_line, new: at.new_line })
}

/** The URL of the same page with the form at a line, or without a form. */
export function commenting(address: string, key: string | null): string {
  const page = new URLSearchParams(address.split('?', 2)[1]).get('page')
  return withQuery(address, { comment: key, page })
}

/** The first of several lines, as the form at the last line names it: `old_new`. */
function startOf({ form }: Act): Pick<DiffLine, 'old' | 'new'> | null {
  const found = /^(\d*)_(\d*)$/.exec(text(form, 'start'))
  if (!found || (found[1] === '' && found[2] === '')) return null
  const number = (one: string | undefined) => (one ? Number(one) : null)
  return { old: number(found[1]), new: number(found[2]) }
}

/** One end of a line range; added and removed lines have a type. */
const endOf = ({ old, new: now }: Pick<DiffLine, 'old' | 'new'>) => ({
  type: old === null ? ('new' as const) : now === null ? ('old' as const) : null,
  old_line: old,
  new_line: now,
})

/** The lines of a comment as text: `3`, or `3–7`. */
export function linesText({ old_line, new_line, line_range }: Position): string {
  const last = new_line ?? old_line
  const first = line_range?.start?.new_line ?? line_range?.start?.old_line ?? last
  return first === last ? String(last) : `${first}–${last}`
}

const lineOf = (act: Act, name: string) => (text(act.form, name) ? Number(text(act.form, name)) : null)

const plain = (words: string) => words.replaceAll('\r\n', '\n')

/** The text of the form at a line, with the suggestion as Markdown. */
function bodyOf({ form }: Act): string {
  const body = plain(text(form, 'body')).trim()
  const suggestion = plain(text(form, 'suggestion'))
  const isSuggested = form.suggestion !== undefined && suggestion !== plain(text(form, 'suggestion_was'))
  const above = Number(text(form, 'suggestion_above')) || 0
  return isSuggested ? `${body}\n\n\`\`\`suggestion:-${above}+0\n${suggestion}\n\`\`\``.trim() : body
}

export async function commentOnLine(act: Act): Promise<string | void> {
  const { api, params, form } = act
  const ids = { id: params.id!, merge_request_iid: params.iid! }
  const line = { old: lineOf(act, 'old_line'), new: lineOf(act, 'new_line') }
  const start = startOf(act)
  const position = {
    position_type: 'text' as const,
    base_sha: text(form, 'base_sha'),
    start_sha: text(form, 'start_sha'),
    head_sha: text(form, 'head_sha'),
    old_path: text(form, 'old_path'),
    new_path: text(form, 'new_path'),
    old_line: line.old,
    new_line: line.new,
    ...(start && { line_range: { start: endOf(start), end: endOf(line) } }),
  }
  const body = bodyOf(act)
  if (text(form, 'mode') === 'draft')
    await api.post('/projects/{id}/merge_requests/{merge_request_iid}/draft_notes', { ...ids, note: body, position })
  else await api.post('/projects/{id}/merge_requests/{merge_request_iid}/discussions', { ...ids, body, position })
  if (act.query.get('comment')) return commenting(act.address, null)
}
