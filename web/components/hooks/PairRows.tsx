/** Names with secret values of a webhook: existing ones can be removed or replaced, others added. */
import { text, type FormFields } from '../../page.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/integrations.ts'
import './PairRows.css'

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
                <input type="checkbox" name={`${name}_gone[]`} value={key} /> {common.remove}
                <span class="spoken"> {key}</span>
              </label>
            </li>
          ))}
        </ul>
      )}
      {Array.from({ length: EMPTY_ROWS }, (_, n) => (
        <div class="hook-pair" key={n}>
          <input name={`${name}_key_${n}`} aria-label={t.nameNumber(n + 1, label)} placeholder={common.name} />
          <input
            type="password"
            name={`${name}_secret_${n}`}
            aria-label={t.valueNumber(n + 1, label)}
            placeholder={common.value}
            autocomplete="off"
          />
        </div>
      ))}
      {known.length > 0 && <small class="quiet">{t.anExistingNameIsOverwritten}</small>}
    </details>
  )
}

export const pairsIn = (form: FormFields, name: string) =>
  Array.from({ length: EMPTY_ROWS }, (_, n) => ({
    key: text(form, `${name}_key_${n}`).trim(),
    value: text(form, `${name}_secret_${n}`),
  })).filter(({ key }) => key !== '')
