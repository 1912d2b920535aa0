/** The passkeys of a user: add, rename and remove. */
import { useEffect, useState } from 'preact/hooks'
import type { Records } from '../../../../api.ts'
import { Button, Field, Form } from '../../../../components/Form.tsx'
import { Icon } from '../../../../components/Icon.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Row, Rows } from '../../../../components/lists.tsx'
import { Chapter, Fold } from '../../../../components/settings.tsx'
import { canUsePasskeys } from '../../../../passkeys.ts'

type Passkey = Records['Passkey']

export const Passkeys = ({ of }: { of: readonly Passkey[] }) => (
  <Chapter
    title="Passkeys"
    hint="Use your phone, computer or security key to confirm your sign-in, or to sign in without a password."
  >
    {of.length > 0 && (
      <Rows label="Passkeys">
        {of.map((passkey) => (
          <Row
            key={passkey.id}
            lead={<Icon name="lock" />}
            title={passkey.name}
            facts={<Uses of={passkey} />}
            aside={<Change of={passkey} />}
          />
        ))}
      </Rows>
    )}
    <Add />
  </Chapter>
)

const Uses = ({ of }: { of: Passkey }) => (
  <>
    added <Time at={of.created_at} /> ·{' '}
    {of.last_used_at ? (
      <>
        last used <Time at={of.last_used_at} />
      </>
    ) : (
      'never used'
    )}
  </>
)

const Change = ({ of }: { of: Passkey }) => (
  <details class="identity-change">
    <summary aria-label={`Edit ${of.name}`}>Edit</summary>
    <div class="identity-change-body">
      <Form action="rename" id={`rename ${of.id}`}>
        <input type="hidden" name="passkey" value={of.id} />
        <Field name="name" label="Name" value={of.name} required />
        <Button>Rename</Button>
      </Form>
      <Form action="drop" id={`drop ${of.id}`}>
        <input type="hidden" name="passkey" value={of.id} />
        <Field name="password" label="Password" type="password" autocomplete="current-password" required />
        <Button kind="danger">Remove passkey</Button>
      </Form>
    </div>
  </details>
)

function Add() {
  const [isAble, setAble] = useState(false)
  useEffect(() => setAble(canUsePasskeys()), [])
  if (!isAble) return <p class="quiet">Your browser does not support passkeys, or JavaScript is disabled.</p>
  return (
    <Fold title="Add a passkey" action="add">
      <Form action="add" resets>
        <Field name="name" label="Passkey name" placeholder="Laptop" required />
        <Field name="password" label="Password" type="password" autocomplete="current-password" required />
        <Button kind="main">Add passkey</Button>
      </Form>
    </Fold>
  )
}
