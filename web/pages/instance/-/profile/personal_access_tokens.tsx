import type { Listed, Records } from '../../../../api.ts'
import { Pages } from '../../../../components/lists.tsx'
import { NewToken, SCOPES, Tokens } from '../../../../components/tokens.tsx'
import { listPage, optional } from '../../../../fields.ts'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text, texts } from '../../../../page.ts'
import * as t from '../../../../texts/credentials.ts'

interface Data {
  tokens: Listed<Records['PersonalAccessToken'][]>
  settings: Records['WebSettings']
}

const FOR_ADMINISTRATORS = [...SCOPES, ['sudo', t.actAsAnyUserSudo]] as const

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api, me, query }) => ({
    tokens: api.list('/personal_access_tokens', {
      user_id: me?.id,
      state: 'active',
      sort: 'created_desc',
      ...listPage(query),
    }),
    settings: api.get('/application/web_settings', {}),
  }),
  title: () => t.personalAccessTokens,
  View: ({ tokens, settings, me }) => (
    <>
      <h1>{t.personalAccessTokens}</h1>
      <p class="quiet">{t.usePersonalAccessTokens}</p>
      <NewToken settings={settings} scopes={me?.is_admin ? FOR_ADMINISTRATORS : SCOPES} />
      <Tokens tokens={tokens.items} />
      <Pages of={tokens} />
    </>
  ),
  actions: {
    async create({ api, form }) {
      const made = await api.post('/user/personal_access_tokens', {
        name: text(form, 'name'),
        scopes: texts(form, 'scopes'),
        expires_at: optional(form, 'expires_at'),
      })
      return { flash: { token: made.token } }
    },
    async rotate({ api, form }) {
      const made = await api.post('/personal_access_tokens/{id}/rotate', { id: text(form, 'token') })
      return { flash: { token: made.token } }
    },
    async revoke({ api, form }) {
      await api.delete('/personal_access_tokens/{id}', { id: text(form, 'token') })
    },
  },
})
