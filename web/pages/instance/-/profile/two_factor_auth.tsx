/** Two-factor authentication: authenticator app, passkeys and recovery codes. */
import { encode } from 'uqr'
import { Refused, type Records } from '../../../../api.ts'
import { useSurroundings } from '../../../../surroundings.ts'
import { Copyable } from '../../../../components/CloneBox.tsx'
import { Button, Field, Form } from '../../../../components/Form.tsx'
import { Chapter } from '../../../../components/settings.tsx'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text, type Flash } from '../../../../page.ts'
import { canUsePasskeys, makePasskey } from '../../../../passkeys.ts'
import type { calls } from '../../../../schema.ts'
import { Passkeys } from './Passkeys.tsx'
import { rich } from '../../../../rich.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/user-settings.ts'
import './two_factor_auth.css'

interface Data {
  factor: Records['SecondFactor']
  passkeys: Records['Passkey'][]
}

const codesFlash = (codes: readonly string[]): Flash => ({ flash: codes.length > 0 ? { codes: codes.join(' ') } : {} })

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({
    factor: api.get('/user/second_factor', {}),
    passkeys: api.get('/user/passkeys', { per_page: 100 }),
  }),
  title: () => common.twoFactorAuthentication,
  View: ({ factor, passkeys }) => {
    const { flash } = useSurroundings()
    return (
      <>
        <h1>{common.twoFactorAuthentication}</h1>
        <p class="quiet">{t.confirmYourSign}</p>
        {factor.required_until && <Required until={factor.required_until} by={factor.required_by} />}
        {flash.codes && <Codes of={flash.codes.split(' ')} />}
        <Chapter title={t.authenticatorApp} hint={t.anAppOnYourPhone}>
          {factor.totp_enabled ? <On /> : flash.url ? <Begun /> : <Off />}
        </Chapter>
        <Passkeys of={passkeys} />
        {factor.enabled && <Recovery of={factor} />}
      </>
    )
  },
  actions: {
    async begin({ api, form }) {
      const begun = await api.post('/user/second_factor', { password: text(form, 'password') })
      return { flash: { secret: begun.secret, url: begun.otpauth_url } }
    },
    async confirm({ api, form }) {
      return codesFlash((await api.post('/user/second_factor/confirm', { code: text(form, 'code') })).recovery_codes)
    },
    async renew({ api, form }) {
      const proof = { code: text(form, 'code'), password: text(form, 'password') }
      return codesFlash((await api.post('/user/second_factor/recovery_codes', proof)).recovery_codes)
    },
    async remove({ api, form }) {
      await api.delete('/user/second_factor', { code: text(form, 'code') })
    },
    async add({ api, form }) {
      if (!canUsePasskeys()) throw new Refused({ status: 400, headers: {}, body: t.yourBrowserDoesNotSupportPasskeys })
      const { ticket, options } = await api.post('/user/passkeys/options', { password: text(form, 'password') })
      const credential = (await makePasskey(options)) as NewCredential
      return codesFlash(
        (await api.post('/user/passkeys', { ticket, name: text(form, 'name'), credential })).recovery_codes,
      )
    },
    async rename({ api, form }) {
      await api.put('/user/passkeys/{passkey_id}', { passkey_id: text(form, 'passkey'), name: text(form, 'name') })
    },
    async drop({ api, form }) {
      const password = text(form, 'password')
      await api.delete('/user/passkeys/{passkey_id}', { passkey_id: text(form, 'passkey'), password })
    },
  },
})

/** The API type of a credential that the browser created. */
type NewCredential = calls['post']['/user/passkeys']['params']['credential']

const Required = ({ until, by }: { until: string; by: string | null }) => (
  <p class="identity-required" role="status">
    {by
      ? rich(t.theGroupByRequiresTwo, { by: <a href={`/${by}`}>{by}</a> })
      : t.thisInstanceRequiresTwoFactorAuthentication}{' '}
    {rich(t.fromTimeOnYouSee, {
      time: <time dateTime={until}>{t.utcTime(until.slice(0, 10), until.slice(11, 16))}</time>,
    })}
  </p>
)

const Off = () => (
  <Form action="begin">
    <Field name="password" label={t.currentPassword} type="password" autocomplete="current-password" required />
    <Button kind="main">{t.setUpAuthenticatorApp}</Button>
  </Form>
)

function Begun() {
  const { flash } = useSurroundings()
  return (
    <>
      <p>{t.scanQrCodeWithYour}</p>
      <QrCode of={flash.url!} />
      <Copyable label={t.secret} text={flash.secret!} />
      <Form action="confirm">
        <CodeField />
        <Button kind="main">{t.enable}</Button>
      </Form>
    </>
  )
}

const On = () => (
  <>
    <p>{t.twoFactorAuthenticationIsEnabled}</p>
    <Form action="remove">
      <CodeField />
      <Button kind="danger">{common.disable}</Button>
    </Form>
  </>
)

const Recovery = ({ of: { recovery_codes_left: left, totp_enabled } }: { of: Records['SecondFactor'] }) => (
  <Chapter title={t.recoveryCodes} hint={t.useRecoveryCodeIfYou}>
    <p>{t.recoveryCodesLeft(left)}</p>
    <Form action="renew">
      {totp_enabled ? (
        <CodeField />
      ) : (
        <Field name="password" label={common.password} type="password" autocomplete="current-password" required />
      )}
      <Button>{t.generateNewRecoveryCodes}</Button>
    </Form>
  </Chapter>
)

const CodeField = () => <Field name="code" label={common.code} autocomplete="one-time-code" required />

const Codes = ({ of }: { of: readonly string[] }) => (
  <section class="card" aria-label={t.recoveryCodes}>
    <header>{t.storeTheseRecoveryCodes}</header>
    <pre tabIndex={0}>{of.join('\n')}</pre>
  </section>
)

const EDGE = 2

function QrCode({ of }: { of: string }) {
  const { data, size } = encode(of, { border: EDGE })
  const dots = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  return (
    <svg viewBox={`0 0 ${size} ${size}`} width="220" height="220" role="img" aria-label={t.qrCode}>
      <rect width={size} height={size} fill="#ffffff" />
      <path d={dots.join('')} fill="#000000" />
    </svg>
  )
}
