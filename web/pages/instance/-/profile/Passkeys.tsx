/** The passkeys of a user: add, rename and remove. */
import { useEffect, useState } from 'preact/hooks'
import type { Records } from '../../../../api.ts'
import { Button, Field, Form } from '../../../../components/Form.tsx'
import { Icon } from '../../../../components/Icon.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Row, Rows } from '../../../../components/lists.tsx'
import { Chapter, Fold } from '../../../../components/settings.tsx'
import { canUsePasskeys } from '../../../../passkeys.ts'
import { rich } from '../../../../rich.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/user-settings.ts'
import './Passkeys.css'

type Passkey = Records['Passkey']

export const Passkeys = ({ of }: { of: readonly Passkey[] }) => (
  <Chapter title={t.passkeys} hint={t.useYourPhoneComputer}>
    {of.length > 0 && (
      <Rows label={t.passkeys}>
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
    {rich(t.addedTime, { time: <Time at={of.created_at} /> })}{' '}
    {of.last_used_at ? rich(t.lastUsedTime, { time: <Time at={of.last_used_at} /> }) : common.neverUsed}
  </>
)

const Change = ({ of }: { of: Passkey }) => (
  <details class="identity-change">
    <summary aria-label={t.editName(of.name)}>{common.edit}</summary>
    <div class="identity-change-body">
      <Form action="rename" id={`rename ${of.id}`}>
        <input type="hidden" name="passkey" value={of.id} />
        <Field name="name" label={common.name} value={of.name} required />
        <Button>{common.rename}</Button>
      </Form>
      <Form action="drop" id={`drop ${of.id}`}>
        <input type="hidden" name="passkey" value={of.id} />
        <Field name="password" label={common.password} type="password" autocomplete="current-password" required />
        <Button kind="danger">{t.removePasskey}</Button>
      </Form>
    </div>
  </details>
)

function Add() {
  const [isAble, setAble] = useState(false)
  useEffect(() => setAble(canUsePasskeys()), [])
  if (!isAble) return <p class="quiet">{t.yourBrowserDoesNotSupport}</p>
  return (
    <Fold title={t.addAPasskey} action="add">
      <Form action="add" resets>
        <Field name="name" label={t.passkeyName} placeholder={t.laptop} required />
        <Field name="password" label={common.password} type="password" autocomplete="current-password" required />
        <Button kind="main">{t.addPasskey}</Button>
      </Form>
    </Fold>
  )
}
