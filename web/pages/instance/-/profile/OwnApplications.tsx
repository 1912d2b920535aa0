/** OAuth applications: the form, and the list of applications that users registered. */
import type { Records } from '../../../../api.ts'
import { flag } from '../../../../fields.ts'
import { text, texts, type FormFields } from '../../../../page.ts'
import { ActButton, Button, Field, Folded, Form, Switch } from '../../../../components/Form.tsx'
import { Empty, Row, Rows } from '../../../../components/lists.tsx'
import { Boxes, Fold } from '../../../../components/settings.tsx'
import { SCOPES } from '../../../../components/tokens.tsx'

type Application = Records['OwnApplication']

const OFFERED = [
  ...SCOPES,
  ['openid', 'Verify your identity with OpenID Connect (openid)'],
  ['profile', 'Read your public profile (profile)'],
  ['email', 'Read your email address (email)'],
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
    <Field name="name" label="Name" required value={of.application_name} />
    <Field
      name="redirect_uri"
      label="Callback URLs"
      lines={2}
      required
      hint="One URL per line."
      value={of.callback_url}
    />
    <Switch
      name="confidential"
      label="Confidential: the application can keep its secret private"
      isOn={of.confidential}
    />
    <Boxes name="scopes" label="Scopes" options={offeredTo(of)} values={of.scopes} />
  </>
)

export const NewApplication = () => (
  <Fold title="New application" action="create">
    <Form action="create" resets>
      <Fields of={NOTHING} />
      <Button kind="main">Create application</Button>
    </Form>
  </Fold>
)

/** Without `mayChange` they can only be viewed and removed. */
export function OwnApplications({ of, mayChange }: { of: readonly Application[]; mayChange: boolean }) {
  if (of.length === 0) return <Empty title="No applications" />
  return (
    <Rows label="Your applications">
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
                <ActButton
                  action="renew"
                  fields={{ application: one.id }}
                  confirm="Renew the secret? The current secret stops working immediately."
                >
                  Renew secret
                </ActButton>
              )}
              <ActButton
                action="remove"
                fields={{ application: one.id }}
                kind="danger"
                confirm={`Delete “${one.application_name}”? All access granted to this application is revoked immediately.`}
              >
                Delete{' '}
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
    <summary>Edit</summary>
    <Form action="change" id={`application-${of.id}`}>
      <input type="hidden" name="application" value={of.id} />
      <Fields of={of} />
      <Button kind="main">Save</Button>
    </Form>
  </Folded>
)
