/** Deploy tokens for machines that clone over HTTP: of a project, or of all projects of a group. */
import type { Records } from '../api.ts'
import { optional } from '../fields.ts'
import { text, texts, type Act, type Flash } from '../page.ts'
import { ActButton, Button, Field, Form } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Row, Rows } from './lists.tsx'
import { Boxes, Chapter, Fold, Secret } from './settings.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/credentials.ts'

const SCOPES = [
  ['read_repository', t.cloneAndFetchReadRepository],
  ['write_repository', t.pushWriteRepository],
] as const
type Scope = (typeof SCOPES)[number][0]

export const DeployTokens = ({ tokens }: { tokens: readonly Records['DeployToken'][] }) => (
  <Chapter title={t.deployTokens} hint={t.giveScriptsAndServersAccess}>
    <Secret name="token" label={t.newDeployToken} />
    {tokens.length > 0 && (
      <Rows label={t.deployTokens}>
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
            facts={t.asUser(token.username, token.expires_at ? t.expiresOnSuffix(token.expires_at.slice(0, 10)) : '')}
            aside={
              <ActButton
                action="revokeToken"
                fields={{ token: token.id }}
                kind="danger"
                confirm={t.revokeName(token.name)}
              >
                {common.revoke}
              </ActButton>
            }
          />
        ))}
      </Rows>
    )}
    <Fold title={t.newDeployToken} action="makeToken">
      <Form action="makeToken" resets>
        <Field name="name" label={common.name} required />
        <Field name="expires_at" label={common.expirationDate} type="date" />
        <Boxes name="scopes" label={t.scopes} options={SCOPES} values={['read_repository']} />
        <Button kind="main">{t.createDeployToken}</Button>
      </Form>
    </Fold>
  </Chapter>
)

export function deployTokenActions(scope: 'project' | 'group') {
  // Both have the same calls below their own prefix.
  const tokens = `/${scope}s/{id}/deploy_tokens` as '/projects/{id}/deploy_tokens'
  return {
    async makeToken({ api, params, form }: Act): Promise<Flash> {
      const made = await api.post(tokens, {
        id: params.id!,
        name: text(form, 'name'),
        scopes: texts(form, 'scopes') as Scope[],
        expires_at: optional(form, 'expires_at'),
      })
      return { flash: { token: made.token } }
    },
    async revokeToken({ api, params, form }: Act): Promise<void> {
      const one = `${tokens}/{token_id}` as '/projects/{id}/deploy_tokens/{token_id}'
      await api.delete(one, { id: params.id!, token_id: text(form, 'token') })
    },
  }
}
