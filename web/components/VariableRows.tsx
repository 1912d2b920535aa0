/** Names and values that a form sends as `keys[]` and `values[]`; with scripts, rows can be added. */
import { useState } from 'preact/hooks'

interface Input {
  readonly key: string
  readonly value: string
}

export function VariableRows({ given = [] }: { given?: readonly Input[] }) {
  const [count, setCount] = useState(given.length + 3)
  return (
    <fieldset class="ci-variables">
      <legend class="field-label">Variables</legend>
      {Array.from({ length: count }, (_, n) => (
        <div class="ci-variable" key={n}>
          <input
            name="keys[]"
            aria-label={`Name of variable ${n + 1}`}
            placeholder="NAME"
            defaultValue={given[n]?.key ?? ''}
          />
          <input
            name="values[]"
            aria-label={`Value of variable ${n + 1}`}
            placeholder="value"
            defaultValue={given[n]?.value ?? ''}
          />
        </div>
      ))}
      <button type="button" class="plain" onClick={() => setCount(count + 1)}>
        Add variable
      </button>
    </fieldset>
  )
}
