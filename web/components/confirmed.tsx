/** Actions that cannot be undone require typing the name. */
import { Refused } from '../api.ts'
import { text, type FormFields } from '../page.ts'
import { Button, Field, Form } from './Form.tsx'
import * as t from '../texts/common.ts'

interface ConfirmedProps {
  title: string
  hint: string
  action: string
  /** The text to type. */
  word: string
  button: string
}

export const Confirmed = ({ title, hint, action, word, button }: ConfirmedProps) => (
  <section class="chapter" data-tone="danger">
    <h2>{title}</h2>
    <p>{hint}</p>
    <Form action={action}>
      <Field name="confirmation" label={t.enterToConfirm(word)} required />
      <Button kind="danger">{button}</Button>
    </Form>
  </section>
)

export function assertTyped(form: FormFields, word: string): void {
  if (text(form, 'confirmation').trim() === word) return
  throw new Refused({ status: 400, headers: {}, body: t.enterToConfirmSentence(word) })
}
