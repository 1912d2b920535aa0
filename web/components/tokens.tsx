/** A list of tokens: scopes, last use, and revocation. */
import type { Records } from '../api.ts'
import { roleName } from '../levels.ts'
import { ActButton, Button, Choice, Field, Form } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Time } from './Time.tsx'
import { Empty, Row, Rows } from './lists.tsx'
import { Boxes, Fold, Secret } from './settings.tsx'

type Token = Records['PersonalAccessToken'] & Partial<Pick<Records['ResourceAccessToken'], 'access_level'>>

export const SCOPES = [
  ['api', 'Full access to the API (api)'],
  ['read_api', 'Read-only access to the API (read_api)'],
  ['read_user', 'Read your user account (read_user)'],
  ['read_repository', 'Clone and fetch (read_repository)'],
  ['write_repository', 'Clone, fetch and push (write_repository)'],
] as const

interface NewTokenProps {
  settings: Records['WebSettings']
  scopes?: readonly (readonly [string, string])[]
  /** If the token acts as a member. */
  roles?: readonly (readonly [string, string])[]
}

export const NewToken = ({ settings, scopes = SCOPES, roles }: NewTokenProps) => (
  <>
    <Secret name="token" label="New token" />
    <Fold title="Create token" action="create">
      <Form action="create" resets>
        <Field name="name" label="Name" required hint="For example “backup script”." />
        <Expiry settings={settings} isRequired={settings.require_personal_access_token_expiry && !roles} />
        {roles && <Choice name="access_level" label="Role" options={roles} value="30" />}
        <Boxes name="scopes" label="Scopes" options={scopes} />
        <Button kind="main">Create token</Button>
      </Form>
    </Fold>
  </>
)

/** Filled in with the latest allowed date, if there is one. */
function Expiry({ settings, isRequired }: { settings: Records['WebSettings']; isRequired: boolean }) {
  const { latest_token_expiry: latest } = settings
  return (
    <Field
      name="expires_at"
      label="Expiration date"
      type="date"
      required={isRequired}
      {...(latest !== null && { value: latest, max: latest, hint: `No later than ${latest}.` })}
    />
  )
}

export function Tokens({ tokens }: { tokens: readonly Token[] }) {
  if (tokens.length === 0) return <Empty title="No active tokens" />
  return (
    <Rows label="Active tokens">
      {tokens.map((token) => (
        <Row
          key={token.id}
          lead={<Icon name="lock" />}
          title={
            <>
              {token.name}{' '}
              {token.scopes.map((scope) => (
                <span class="badge" key={scope}>
                  {scope}
                </span>
              ))}
            </>
          }
          facts={
            <>
              {token.access_level !== undefined && <>{roleName(token.access_level)} · </>}
              created <Time at={token.created_at} /> ·{' '}
              {token.last_used_at ? (
                <>
                  last used <Time at={token.last_used_at} />
                </>
              ) : (
                'never used'
              )}{' '}
              · {token.expires_at ? `expires on ${token.expires_at.slice(0, 10)}` : 'never expires'}
            </>
          }
          aside={
            <>
              <ActButton
                action="rotate"
                fields={{ token: token.id }}
                confirm="Rotate this token? The current token stops working immediately."
              >
                Rotate
              </ActButton>
              <ActButton
                action="revoke"
                fields={{ token: token.id }}
                kind="danger"
                confirm={`Revoke “${token.name}”? Applications that use this token lose access immediately.`}
              >
                Revoke
              </ActButton>
            </>
          }
        />
      ))}
    </Rows>
  )
}
