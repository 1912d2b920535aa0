/** A list of tokens: scopes, last use, and revocation. */
import type { Records } from '../api.ts'
import { roleName } from '../levels.ts'
import { ActButton, Button, Choice, Field, Form } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Time } from './Time.tsx'
import { Empty, Row, Rows } from './lists.tsx'
import { Boxes, Fold, Secret } from './settings.tsx'
import { rich } from '../rich.ts'
import * as common from '../texts/common.ts'
import * as t from '../texts/credentials.ts'

type Token = Records['PersonalAccessToken'] & Partial<Pick<Records['ResourceAccessToken'], 'access_level'>>

export const SCOPES = [
  ['api', t.fullAccessToApiApi],
  ['read_api', t.readOnlyAccessToApi],
  ['read_user', t.readYourUserAccountReadUser],
  ['read_repository', t.cloneAndFetchReadRepository],
  ['write_repository', t.cloneFetchAndPushWriteRepository],
] as const

interface NewTokenProps {
  settings: Records['WebSettings']
  scopes?: readonly (readonly [string, string])[]
  /** If the token acts as a member. */
  roles?: readonly (readonly [string, string])[]
}

export const NewToken = ({ settings, scopes = SCOPES, roles }: NewTokenProps) => (
  <>
    <Secret name="token" label={t.newToken} />
    <Fold title={common.createToken} action="create">
      <Form action="create" resets>
        <Field name="name" label={common.name} required hint={t.forExampleBackupScript} />
        <Expiry settings={settings} isRequired={settings.require_personal_access_token_expiry && !roles} />
        {roles && <Choice name="access_level" label={common.role} options={roles} value="30" />}
        <Boxes name="scopes" label={t.scopes} options={scopes} />
        <Button kind="main">{common.createToken}</Button>
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
      label={common.expirationDate}
      type="date"
      required={isRequired}
      {...(latest !== null && { value: latest, max: latest, hint: t.noLaterThan(latest) })}
    />
  )
}

export function Tokens({ tokens }: { tokens: readonly Token[] }) {
  if (tokens.length === 0) return <Empty title={t.noActiveTokens} />
  return (
    <Rows label={t.activeTokens}>
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
              {rich(t.createdTime, { time: <Time at={token.created_at} /> })}{' '}
              {token.last_used_at ? rich(t.lastUsedTime, { time: <Time at={token.last_used_at} /> }) : common.neverUsed}{' '}
              · {token.expires_at ? t.expiresOn(token.expires_at.slice(0, 10)) : t.neverExpires}
            </>
          }
          aside={
            <>
              <ActButton action="rotate" fields={{ token: token.id }} confirm={t.rotateThisTokenCurrentToken}>
                {t.rotate}
              </ActButton>
              <ActButton
                action="revoke"
                fields={{ token: token.id }}
                kind="danger"
                confirm={t.revokeTokenNamed(token.name)}
              >
                {common.revoke}
              </ActButton>
            </>
          }
        />
      ))}
    </Rows>
  )
}
