/** The second factor: codes of an app, passkeys, and codes for the day the device is lost. */
import { encode } from 'uqr'
import { Refused, type Records } from '../../../../api.ts'
import { useSurroundings } from '../../../../app.tsx'
import { Copyable } from '../../../../components/CloneBox.tsx'
import { Button, Field, Form } from '../../../../components/Form.tsx'
import { Chapter } from '../../../../components/settings.tsx'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text, type Flash } from '../../../../page.ts'
import { canUsePasskeys, makePasskey } from '../../../../passkeys.ts'
import type { calls } from '../../../../schema.ts'
import { Passkeys } from './Passkeys.tsx'

interface Data {
  factor: Records['SecondFactor']
  passkeys: Records['Passkey'][]
}

const codesTold = (codes: readonly string[]): Flash => ({ told: codes.length > 0 ? { codes: codes.join(' ') } : {} })

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({
    factor: api.get('/user/second_factor', {}),
    passkeys: api.get('/user/passkeys', { per_page: 100 }),
  }),
  title: () => 'Second factor',
  View: ({ factor, passkeys }) => {
    const { told } = useSurroundings()
    return (
      <>
        <h1>Second factor</h1>
        <p class="quiet">
          Beside your password, something you have: a code of your phone or a passkey. Programs use access tokens, which
          need none.
        </p>
        {factor.required_until && <Required until={factor.required_until} by={factor.required_by} />}
        {told.codes && <Codes of={told.codes.split(' ')} />}
        <Chapter title="Codes of an app" hint="An app on your phone shows another code every half minute.">
          {factor.totp_enabled ? <On /> : told.url ? <Begun /> : <Off />}
        </Chapter>
        <Passkeys of={passkeys} />
        {factor.enabled && <Recovery of={factor} />}
      </>
    )
  },
  actions: {
    async begin({ api, form }) {
      const begun = await api.post('/user/second_factor', { password: text(form, 'password') })
      return { told: { secret: begun.secret, url: begun.otpauth_url } }
    },
    async confirm({ api, form }) {
      return codesTold((await api.post('/user/second_factor/confirm', { code: text(form, 'code') })).recovery_codes)
    },
    async renew({ api, form }) {
      const proof = { code: text(form, 'code'), password: text(form, 'password') }
      return codesTold((await api.post('/user/second_factor/recovery_codes', proof)).recovery_codes)
    },
    async remove({ api, form }) {
      await api.delete('/user/second_factor', { code: text(form, 'code') })
    },
    async add({ api, form }) {
      if (!canUsePasskeys()) throw new Refused({ status: 400, headers: {}, body: 'This browser knows no passkeys.' })
      const { ticket, options } = await api.post('/user/passkeys/options', { password: text(form, 'password') })
      const credential = (await makePasskey(options)) as NewCredential
      return codesTold(
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

/** What the API takes of what the browser made. */
type NewCredential = calls['post']['/user/passkeys']['params']['credential']

const Required = ({ until, by }: { until: string; by: string | null }) => (
  <p class="identity-required" role="status">
    {by ? (
      <>
        The group <a href={`/${by}`}>{by}</a> asks its members for a second factor.
      </>
    ) : (
      'This forge asks everybody for a second factor.'
    )}{' '}
    From{' '}
    <time dateTime={until}>
      {until.slice(0, 10)} {until.slice(11, 16)} UTC
    </time>{' '}
    on you see nothing but this page until you have one.
  </p>
)

const Off = () => (
  <Form action="begin">
    <Field name="password" label="Your password" type="password" autocomplete="current-password" required />
    <Button kind="main">Set up a second factor</Button>
  </Form>
)

function Begun() {
  const { told } = useSurroundings()
  return (
    <>
      <p>Scan this with an app for one-time codes, or type the secret into it. Then show its first code.</p>
      <QrCode of={told.url!} />
      <Copyable label="Secret" text={told.secret!} />
      <Form action="confirm">
        <CodeField />
        <Button kind="main">Switch on</Button>
      </Form>
    </>
  )
}

const On = () => (
  <>
    <p>It is on.</p>
    <Form action="remove">
      <CodeField />
      <Button kind="danger">Switch off</Button>
    </Form>
  </>
)

const Recovery = ({ of: { recovery_codes_left: left, totp_enabled } }: { of: Records['SecondFactor'] }) => (
  <Chapter title="Recovery codes" hint="For the day you have no device at hand. Each opens once.">
    <p>
      {left} recovery {left === 1 ? 'code is' : 'codes are'} left.
    </p>
    <Form action="renew">
      {totp_enabled ? (
        <CodeField />
      ) : (
        <Field name="password" label="Password" type="password" autocomplete="current-password" required />
      )}
      <Button>New recovery codes</Button>
    </Form>
  </Chapter>
)

const CodeField = () => <Field name="code" label="Code" autocomplete="one-time-code" required />

const Codes = ({ of }: { of: readonly string[] }) => (
  <section class="card" aria-label="Recovery codes">
    <header>Keep these where you will find them without your device. Each opens once, and none is shown again.</header>
    <pre tabIndex={0}>{of.join('\n')}</pre>
  </section>
)

const EDGE = 2

function QrCode({ of }: { of: string }) {
  const { data, size } = encode(of, { border: EDGE })
  const dots = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  return (
    <svg viewBox={`0 0 ${size} ${size}`} width="220" height="220" role="img" aria-label="The secret as a QR code">
      <rect width={size} height={size} fill="#ffffff" />
      <path d={dots.join('')} fill="#000000" />
    </svg>
  )
}
