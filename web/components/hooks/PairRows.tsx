/** Names with secret values of a webhook: existing ones can be removed or replaced, others added. */
import { text, type FormFields } from '../../page.ts'

interface PairRowsProps {
  name: string
  label: string
  hint: string
  known: readonly string[]
}

/** Rows for new ones; for more, save and come back. */
const EMPTY_ROWS = 3

export function PairRows({ name, label, hint, known }: PairRowsProps) {
  return (
    <details class="hook-pairs" open={known.length > 0}>
      <summary>{label}</summary>
      <p class="quiet">{hint}</p>
      {known.length > 0 && (
        <ul class="hook-known">
          {known.map((key) => (
            <li class="row" key={key}>
              <code>{key}</code>
              <label class="row">
                <input type="checkbox" name={`${name}_gone[]`} value={key} /> Remove<span class="spoken"> {key}</span>
              </label>
            </li>
          ))}
        </ul>
      )}
      {Array.from({ length: EMPTY_ROWS }, (_, n) => (
        <div class="hook-pair" key={n}>
          <input name={`${name}_key_${n}`} aria-label={`Name ${n + 1}: ${label}`} placeholder="Name" />
          <input
            type="password"
            name={`${name}_secret_${n}`}
            aria-label={`Value ${n + 1}: ${label}`}
            placeholder="Value"
            autocomplete="off"
          />
        </div>
      ))}
      {known.length > 0 && <small class="quiet">An existing name is overwritten.</small>}
    </details>
  )
}

export const pairsIn = (form: FormFields, name: string) =>
  Array.from({ length: EMPTY_ROWS }, (_, n) => ({
    key: text(form, `${name}_key_${n}`).trim(),
    value: text(form, `${name}_secret_${n}`),
  })).filter(({ key }) => key !== '')
