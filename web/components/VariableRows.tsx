/** Names and values that a form sends as `keys[]` and `values[]`; with scripts, rows can be added. */
import { useState } from 'preact/hooks'
import * as t from '../texts/ci.ts'
import './VariableRows.css'

interface Input {
  readonly key: string
  readonly value: string
}

export function VariableRows({ given = [] }: { given?: readonly Input[] }) {
  const [count, setCount] = useState(given.length + 3)
  return (
    <fieldset class="ci-variables">
      <legend class="field-label">{t.variables}</legend>
      {Array.from({ length: count }, (_, n) => (
        <div class="ci-variable" key={n}>
          <input
            name="keys[]"
            aria-label={t.nameOfVariable(n + 1)}
            placeholder={t.name}
            defaultValue={given[n]?.key ?? ''}
          />
          <input
            name="values[]"
            aria-label={t.valueOfVariable(n + 1)}
            placeholder={t.value}
            defaultValue={given[n]?.value ?? ''}
          />
        </div>
      ))}
      <button type="button" class="plain" onClick={() => setCount(count + 1)}>
        {t.addVariable}
      </button>
    </fieldset>
  )
}
