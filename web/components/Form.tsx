/**
 * Forms are plain posts to the page they stand on, which names the action; in a browser that runs scripts the same action
 * goes over the API, and the page is drawn anew where it stands.
 */
import { createContext, type ComponentChildren } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { useSurroundings, type Returned } from '../app.tsx'

export const TokenField = () => <input type="hidden" name="authenticity_token" value={useSurroundings().csrf} />

/** What the form around a field was sent with, where it came back. */
const Sent = createContext<Returned | null>(null)

/** Whether a form came back before the page was drawn: what folds it stays open then. */
export function useIsReturned(action: string, id?: string): boolean {
  const { returned } = useSurroundings()
  return returned?.action === action && (id === undefined || returned.values._form === id)
}

interface FormProps {
  /** Of the page's actions. */
  action: string
  children: ComponentChildren
  class?: string
  /** Asked before it is sent: for what cannot be undone. */
  confirm?: string
  /** Emptied when it went well. */
  resets?: boolean
  /** With files. */
  files?: boolean
  /** Tells forms of the same action apart. */
  id?: string
  /** Another action that one of its buttons names: what that one refused stands in it again as well. */
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
    // The server draws it: the action must not run.
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

/** Closed again once what was written is sent. */
export const fold = (event: { currentTarget: HTMLDetailsElement }) => {
  event.currentTarget.open = false
}

interface FoldedProps {
  /** Of the form inside. */
  action: string
  id?: string
  class?: string
  /** A summary and the form. */
  children: ComponentChildren
}

/** A form that is folded until it is wanted, or comes back. */
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
  /** Lines of a longer text. */
  lines?: number
  autocomplete?: string
  pattern?: string
  /** The last day of a date. */
  max?: string
  /** Spoken, not shown. */
  isQuiet?: boolean
}

/** What a form held stands in it again when it comes back. */
export function useValue(name: string, value: FieldProps['value']): string {
  const sent = useContext(Sent)?.values[name]
  return typeof sent === 'string' ? sent : String(value ?? '')
}

/** Which of several are chosen. Of none a form says nothing. */
export function useChosen(name: string, values: readonly string[]): readonly string[] {
  const sent = useContext(Sent)
  return sent ? [sent.values[name.replace(/\[\]$/, '')] ?? []].flat() : values
}

/** A text of the form as it will stand, where that was asked for. */
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

/** One box, whose words stand beside it. */
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

/** Off is told as well: an empty box of a form says nothing. */
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

/** One button that is a form of its own. */
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
