import type { Listed, Records } from '../../../../api.ts'
import { NewApplication, OwnApplications, applicationOf } from './OwnApplications.tsx'
import { ActButton } from '../../../../components/Form.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../../components/lists.tsx'
import { Chapter, Secret } from '../../../../components/settings.tsx'
import { listPage } from '../../../../fields.ts'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'
import { rich } from '../../../../rich.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/credentials.ts'

interface Data {
  applications: Records['OwnApplication'][]
  settings: Records['WebSettings']
  tokens: Listed<Records['OAuthToken'][]>
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api, query }) => ({
    applications: api.get('/user/applications', { per_page: 100 }),
    settings: api.get('/application/web_settings', {}),
    tokens: api.list('/user/oauth_tokens', listPage(query)),
  }),
  title: () => common.applications,
  View: ({ applications, settings, tokens }) => (
    <>
      <h1>{common.applications}</h1>
      <Secret name="secret" label={t.applicationSecret} />
      <Chapter title={t.yourApplications} hint={t.oauthApplicationsThatYouManage}>
        {settings.user_oauth_applications ? <NewApplication /> : <p>{t.theAdministratorHasDisabledNew}</p>}
        <OwnApplications of={applications} mayChange={settings.user_oauth_applications} />
      </Chapter>
      <Chapter title={t.authorizedApplications} hint={t.applicationsThatCanAccessYourAccount}>
        {tokens.items.length === 0 ? (
          <Empty title={t.noAuthorizedApplications} />
        ) : (
          <Rows label={t.authorizedApplications}>
            {tokens.items.map((token) => (
              <Row
                key={token.id}
                title={
                  <>
                    {token.application?.application_name ?? t.passwordSignIn}{' '}
                    {token.scopes.map((scope) => (
                      <span class="badge" key={scope}>
                        {scope}
                      </span>
                    ))}
                  </>
                }
                facts={
                  <>
                    {rich(t.authorizedTime, { time: <Time at={token.created_at} /> })}
                    {token.last_used_at && rich(t.lastUsedTimeSuffix, { time: <Time at={token.last_used_at} /> })}
                  </>
                }
                aside={
                  <ActButton
                    action="revoke"
                    fields={{ token: token.id }}
                    kind="danger"
                    confirm={t.revokeAccessForThisApplication}
                  >
                    {common.revoke}
                  </ActButton>
                }
              />
            ))}
          </Rows>
        )}
        <Pages of={tokens} />
      </Chapter>
    </>
  ),
  actions: {
    async create({ api, form }) {
      const made = await api.post('/user/applications', applicationOf(form))
      return { flash: { secret: made.secret } }
    },
    async change({ api, form }) {
      const application_id = text(form, 'application')
      await api.put('/user/applications/{application_id}', { application_id, ...applicationOf(form) })
    },
    async renew({ api, form }) {
      const application_id = text(form, 'application')
      const made = await api.post('/user/applications/{application_id}/renew-secret', { application_id })
      return { flash: { secret: made.secret } }
    },
    async remove({ api, form }) {
      await api.delete('/user/applications/{application_id}', { application_id: text(form, 'application') })
    },
    async revoke({ api, form }) {
      await api.delete('/user/oauth_tokens/{oauth_token_id}', { oauth_token_id: text(form, 'token') })
    },
  },
})
