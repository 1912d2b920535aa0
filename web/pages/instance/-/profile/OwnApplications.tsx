/** OAuth applications: the form, and the list of applications that users registered. */
import type { Records } from '../../../../api.ts'
import { flag } from '../../../../fields.ts'
import { text, texts, type FormFields } from '../../../../page.ts'
import { ActButton, Button, Field, Folded, Form, Switch } from '../../../../components/Form.tsx'
import { Empty, Row, Rows } from '../../../../components/lists.tsx'
import { Boxes, Fold } from '../../../../components/settings.tsx'
import { SCOPES } from '../../../../components/tokens.tsx'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/credentials.ts'

type Application = Records['OwnApplication']

const OFFERED = [
  ...SCOPES,
  ['openid', t.verifyYourIdentityWithOpen],
  ['profile', t.readYourPublicProfileProfile],
  ['email', t.readYourEmailAddressEmail],
] as const

/** Scopes that only the API offers stay when the form is sent. */
function offeredTo({ scopes }: Pick<Application, 'scopes'>): readonly (readonly [string, string])[] {
  const others = scopes.filter((scope) => !OFFERED.some(([known]) => known === scope))
  return [...OFFERED, ...others.map((scope) => [scope, scope] as const)]
}

export const applicationOf = (form: FormFields) => ({
  name: text(form, 'name'),
  redirect_uri: text(form, 'redirect_uri'),
  scopes: texts(form, 'scopes').join(' '),
  confidential: flag(form, 'confidential'),
})

const NOTHING = { application_name: '', callback_url: '', confidential: true, scopes: [] }

const Fields = ({ of }: { of: Pick<Application, keyof typeof NOTHING> }) => (
  <>
    <Field name="name" label={common.name} required value={of.application_name} />
    <Field
      name="redirect_uri"
      label={t.callbackUrls}
      lines={2}
      required
      hint={t.oneUrlPerLine}
      value={of.callback_url}
    />
    <Switch name="confidential" label={t.confidentialApplicationCanKeep} isOn={of.confidential} />
    <Boxes name="scopes" label={t.scopes} options={offeredTo(of)} values={of.scopes} />
  </>
)

export const NewApplication = () => (
  <Fold title={t.newApplication} action="create">
    <Form action="create" resets>
      <Fields of={NOTHING} />
      <Button kind="main">{t.createApplication}</Button>
    </Form>
  </Fold>
)

/** Without `mayChange` they can only be viewed and removed. */
export function OwnApplications({ of, mayChange }: { of: readonly Application[]; mayChange: boolean }) {
  if (of.length === 0) return <Empty title={t.noApplications} />
  return (
    <Rows label={t.yourApplications}>
      {of.map((one) => (
        <Row
          key={one.id}
          title={
            <>
              {one.application_name}{' '}
              {one.scopes.map((scope) => (
                <span class="badge" key={scope}>
                  {scope}
                </span>
              ))}
            </>
          }
          facts={
            <>
              <code>{one.application_id}</code> · {one.callback_url}
              {mayChange && <Change of={one} />}
            </>
          }
          aside={
            <>
              {mayChange && (
                <ActButton action="renew" fields={{ application: one.id }} confirm={t.renewSecretCurrentSecretStops}>
                  {t.renewSecret}
                </ActButton>
              )}
              <ActButton
                action="remove"
                fields={{ application: one.id }}
                kind="danger"
                confirm={t.deleteApplicationNamed(one.application_name)}
              >
                {common.deleteLabel}{' '}
              </ActButton>
            </>
          }
        />
      ))}
    </Rows>
  )
}

const Change = ({ of }: { of: Application }) => (
  <Folded action="change" id={`application-${of.id}`}>
    <summary>{common.edit}</summary>
    <Form action="change" id={`application-${of.id}`}>
      <input type="hidden" name="application" value={of.id} />
      <Fields of={of} />
      <Button kind="main">{common.save}</Button>
    </Form>
  </Folded>
)
