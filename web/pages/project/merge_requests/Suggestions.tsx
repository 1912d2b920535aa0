/** A suggestion in a comment as a small diff, with a button to apply it. */
import type { Records } from '../../../api.ts'
import type { DiffLine } from '../../../components/diff-lines.ts'
import { ActButton, Button, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/merge-requests.ts'
import './Suggestions.css'

interface SuggestionsProps {
  note: Records['Note']
  mayApply: boolean
}

export function Suggestions({ note, mayApply }: SuggestionsProps) {
  const suggestions = note.suggestions ?? []
  if (suggestions.length === 0) return null
  return (
    <>
      {suggestions.map((one) => (
        <figure class="suggestion" key={one.id}>
          <figcaption>
            <span>
              <Icon name="pencil" /> {t.suggestedChange}
            </span>
            {one.applied ? (
              <span class="state" data-tone="good">
                <Icon name="check" /> {t.applied}
              </span>
            ) : (
              one.appliable &&
              mayApply && (
                <ActButton action="applySuggestion" id={`apply-${one.id}`} fields={{ suggestion_id: one.id }}>
                  {common.apply}
                </ActButton>
              )
            )}
          </figcaption>
          <table class="diff">
            <tbody>
              {rowsOf(one.from_content, 'removed')}
              {rowsOf(one.to_content, 'added')}
            </tbody>
          </table>
        </figure>
      ))}
    </>
  )
}

const rowsOf = (content: string, kind: 'added' | 'removed') =>
  content === ''
    ? null
    : content
        .replace(/\n$/, '')
        .split('\n')
        .map((line, n) => (
          <tr data-kind={kind} key={n}>
            <td class="diff-text" data-sign={kind === 'added' ? '+' : '-'}>
              <span>{line || '\n'}</span>
            </td>
          </tr>
        ))

/** Applies all open suggestions in one commit. */
export function ApplyAll({ discussions }: { discussions: readonly Records['Discussion'][] }) {
  const ids = discussions
    .flatMap(({ notes }) => notes.flatMap(({ suggestions }) => suggestions ?? []))
    .filter(({ appliable, applied }) => appliable && !applied)
    .map(({ id }) => id)
  if (ids.length < 2) return null
  return (
    <Form action="applyAll">
      {ids.map((id) => (
        <input type="hidden" name="ids[]" value={id} key={id} />
      ))}
      <p>
        <Button>{t.applySuggestions(ids.length)}</Button>
      </p>
    </Form>
  )
}

const SIGNS = { same: ' ', added: '+', removed: '-', hunk: '', note: '' } as const

/** A few lines of a diff, quoted above a thread. */
export const Excerpt = ({ lines }: { lines: readonly DiffLine[] }) => (
  <div class="thread-lines" tabIndex={0} role="region" aria-label={t.lines}>
    <table class="diff">
      <tbody>
        {lines.map((line, n) => (
          <tr data-kind={line.kind} key={n}>
            <td class="diff-number">
              <span class="quiet">{line.new ?? line.old}</span>
            </td>
            <td class="diff-text" data-sign={SIGNS[line.kind]}>
              <span>{line.text || '\n'}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
