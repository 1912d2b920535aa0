/**
 * Forms are plain posts to their own page with the name of an action. In a browser with scripts, the same action runs
 * over the API, and the page is rendered again in place.
 */
import { createContext, type ComponentChildren } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { useSurroundings, type Returned } from '../surroundings.ts'

export const TokenField = () => <input type="hidden" name="authenticity_token" value={useSurroundings().csrf} />

/** The submitted values of the surrounding form, if it is shown again. */
const Sent = createContext<Returned | null>(null)

/** Whether a form was returned before the page was rendered: then its container stays open. */
export function useIsReturned(action: string, id?: string): boolean {
  const { returned } = useSurroundings()
  return returned?.action === action && (id === undefined || returned.values._form === id)
}

interface FormProps {
  /** One of the page's actions. */
  action: string
  children: ComponentChildren
  class?: string
  /** A confirmation before sending, for actions that cannot be undone. */
  confirm?: string
  /** Cleared after success. */
  resets?: boolean
  /** The form contains files. */
  files?: boolean
  /** Distinguishes forms with the same action. */
  id?: string
  /** Another action, named by one of its buttons: the form also restores its values after an error of that action. */
  also?: string
}

export function Form({
  action,
  children,
  confirm,
  resets = false,
  files = false,
  id,
  also,
  class: name = '',
}: FormProps) {
  const { address, act, returned } = useSurroundings()
  const isMine = useIsReturned(action, id) || (also !== undefined && returned?.action === also)
  const sent = isMine ? returned : null
  const [state, setState] = useState<{ isBusy: boolean; fault: string | null }>({
    isBusy: false,
    fault: sent?.fault ?? null,
  })

  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    // The server renders the preview: the action must not run.
    if ((event.submitter as HTMLButtonElement | null)?.name === '_preview') return
    event.preventDefault()
    const form = event.currentTarget
    if (state.isBusy || (confirm && !globalThis.confirm(confirm))) return
    setState({ isBusy: true, fault: null })
    try {
      await act(action, new FormData(form, event.submitter))
      if (resets) form.reset()
      setState({ isBusy: false, fault: null })
    } catch (error) {
      setState({ isBusy: false, fault: error instanceof Error ? error.message : String(error) })
    }
  }

  return (
    <form
      method="post"
      action={address}
      encType={files ? 'multipart/form-data' : undefined}
      class={name}
      onSubmit={submit}
      aria-busy={state.isBusy}
    >
      <TokenField />
      <input type="hidden" name="_action" value={action} />
      {id !== undefined && <input type="hidden" name="_form" value={id} />}
      {state.fault && (
        <p class="fault" role="alert">
          {state.fault}
        </p>
      )}
      <Sent.Provider value={sent}>{children}</Sent.Provider>
    </form>
  )
}

/** Closes the container once the form was sent. */
export const fold = (event: { currentTarget: HTMLDetailsElement }) => {
  event.currentTarget.open = false
}

interface FoldedProps {
  /** The action of the form inside. */
  action: string
  id?: string
  class?: string
  /** A summary and the form. */
  children: ComponentChildren
}

/** A form that is collapsed until it is opened or returned with an error. */
export const Folded = ({ action, id, class: name = 'edit', children }: FoldedProps) => (
  <details class={name} onReset={fold} open={useIsReturned(action, id)}>
    {children}
  </details>
)

interface FieldProps {
  name: string
  label: string
  hint?: string
  value?: string | number | null | undefined
  type?: 'text' | 'password' | 'email' | 'url' | 'number' | 'date' | 'search' | 'file' | 'datetime-local'
  required?: boolean
  placeholder?: string
  /** Number of lines of a long text. */
  lines?: number
  autocomplete?: string
  pattern?: string
  /** The latest date. */
  max?: string
  /** The label is visible to screen readers only. */
  isQuiet?: boolean
}

/** The submitted value if the form is shown again. */
export function useValue(name: string, value: FieldProps['value']): string {
  const sent = useContext(Sent)?.values[name]
  return typeof sent === 'string' ? sent : String(value ?? '')
}

/** The chosen values. A form with no chosen value sends nothing. */
function useChosen(name: string, values: readonly string[]): readonly string[] {
  const sent = useContext(Sent)
  return sent ? [sent.values[name.replace(/\[\]$/, '')] ?? []].flat() : values
}

/** The preview of a text of the form, if it was requested. */
export function useSentPreview(name: string): { readonly html: string } | null {
  const preview = useContext(Sent)?.preview
  return preview?.name === name ? preview : null
}

export function Field({ name, label, hint, value, type = 'text', lines, isQuiet = false, ...rest }: FieldProps) {
  const shown = useValue(name, value)
  return (
    <label class="field">
      <span class={isQuiet ? 'spoken' : 'field-label'}>{label}</span>
      {lines ? (
        <textarea name={name} rows={lines} {...rest} defaultValue={shown} />
      ) : (
        <input name={name} {...({ type } as object)} {...(type !== 'file' && { defaultValue: shown })} {...rest} />
      )}
      {hint && <small class="quiet">{hint}</small>}
    </label>
  )
}

interface ChoiceProps {
  name: string
  label: string
  options: readonly (readonly [value: string, text: string])[]
  value?: string | number | null | undefined
  hint?: string
  isQuiet?: boolean
  multiple?: boolean
  values?: readonly string[]
}

export function Choice({ name, label, options, value, hint, isQuiet = false, multiple = false, values }: ChoiceProps) {
  const one = useValue(name, value)
  const several = useChosen(name, values ?? [])
  const shown = multiple ? several : [one]
  return (
    <label class="field">
      <span class={isQuiet ? 'spoken' : 'field-label'}>{label}</span>
      <select name={name} multiple={multiple}>
        {options.map(([option, text]) => (
          <option value={option} selected={shown.includes(option)} key={option}>
            {text}
          </option>
        ))}
      </select>
      {hint && <small class="quiet">{hint}</small>}
    </label>
  )
}

interface TickProps {
  name: string
  value?: string | number
  isOn?: boolean
  type?: 'checkbox' | 'radio'
}

/** A single checkbox without its label. */
export function Tick({ name, value = 'true', isOn = false, type = 'checkbox' }: TickProps) {
  const isChosen = useChosen(name, isOn ? [String(value)] : []).includes(String(value))
  return <input type={type} name={name} value={value} defaultChecked={isChosen} />
}

interface SwitchProps {
  name: string
  label: string
  hint?: string
  isOn?: boolean | null | undefined
}

/** Also sends the off state: an unchecked box sends nothing. */
export function Switch({ name, label, hint, isOn }: SwitchProps) {
  return (
    <label class="switch">
      <input type="hidden" name={name} value="false" />
      <input type="checkbox" name={name} value="true" defaultChecked={useValue(name, String(isOn)) === 'true'} />
      <span>
        {label}
        {hint && <small class="quiet">{hint}</small>}
      </span>
    </label>
  )
}

interface ButtonProps {
  children: ComponentChildren
  kind?: 'main' | 'danger' | 'plain'
  name?: string
  value?: string
  label?: string
}

export const Button = ({ children, kind, label, ...rest }: ButtonProps) => (
  <button class={kind === 'plain' ? 'plain' : 'button'} data-kind={kind} aria-label={label} title={label} {...rest}>
    {children}
  </button>
)

/** A form with a single button. */
export const ActButton = ({
  action,
  fields = {},
  confirm,
  id,
  ...button
}: ButtonProps & { action: string; fields?: Record<string, string | number>; confirm?: string; id?: string }) => (
  <Form action={action} class="inline" {...(confirm && { confirm })} {...(id !== undefined && { id })}>
    {Object.entries(fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} key={name} />
    ))}
    <Button {...button} />
  </Form>
)
