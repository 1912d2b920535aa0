import type { Listed, Records } from '../../../../api.ts'
import { ActButton } from '../../../../components/Form.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../../components/lists.tsx'
import { listPage } from '../../../../fields.ts'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'

interface Data {
  tokens: Listed<Records['OAuthToken'][]>
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api, query }) => ({ tokens: api.list('/user/oauth_tokens', listPage(query)) }),
  title: () => 'Applications',
  View: ({ tokens }) => (
    <>
      <h1>Applications</h1>
      <p class="quiet">Programs that you let in, and may send away.</p>
      {tokens.items.length === 0 ? (
        <Empty title="No application acts for you" />
      ) : (
        <Rows label="Applications">
          {tokens.items.map((token) => (
            <Row
              key={token.id}
              title={
                <>
                  {token.application?.application_name ?? 'Sign-in by password'}{' '}
                  {token.scopes.map((scope) => (
                    <span class="badge" key={scope}>
                      {scope}
                    </span>
                  ))}
                </>
              }
              facts={
                <>
                  let in <Time at={token.created_at} />
                  {token.last_used_at && (
                    <>
                      , used <Time at={token.last_used_at} />
                    </>
                  )}
                </>
              }
              aside={
                <ActButton action="revoke" fields={{ token: token.id }} kind="danger" confirm="Send it away?">
                  Revoke
                </ActButton>
              }
            />
          ))}
        </Rows>
      )}
      <Pages of={tokens} />
    </>
  ),
  actions: {
    async revoke({ api, form }) {
      await api.delete('/user/oauth_tokens/{oauth_token_id}', { oauth_token_id: text(form, 'token') })
    },
  },
})
