/** The only script of the sign-in pages: it asks the device for a passkey and submits the form with the signature. */
import { canUsePasskeys, showPasskey } from './passkeys.ts'
import * as t from './texts/user-settings.ts'

const form = document.querySelector<HTMLFormElement>('#passkey')

if (form && canUsePasskeys()) {
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    complain('')
    ask(form).then(
      () => form.submit(),
      (error: unknown) => complain(error instanceof Error ? error.message : String(error)),
    )
  })
}

const fieldOf = (form: HTMLFormElement, name: string) => form.querySelector<HTMLInputElement>(`input[name="${name}"]`)!

async function ask(form: HTMLFormElement): Promise<void> {
  const answer = await fetch('/users/sign_in/passkey/options', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': fieldOf(form, 'authenticity_token').value },
    body: JSON.stringify({ ticket: fieldOf(form, 'ticket').value }),
  })
  const challenge = (await answer.json()) as { ticket: string; options: unknown; message?: string }
  if (!answer.ok) throw new Error(challenge.message ?? t.tryAgain)
  fieldOf(form, 'credential').value = JSON.stringify(await showPasskey(challenge.options))
  fieldOf(form, 'challenge').value = challenge.ticket
}

function complain(fault: string): void {
  const element = form!.querySelector<HTMLElement>('[role=alert]')!
  element.textContent = fault
  element.hidden = fault === ''
}
