/** Access tokens of a project or a group, which act as members of it. */
import type { Listed, Records } from '../api.ts'
import { count, listPage, optional } from '../fields.ts'
import { groupSettingsFrame, projectSettingsFrame } from '../layout/settings.tsx'
import { ROLES } from '../levels.ts'
import { page as declare, text, texts, type Frame, type Page } from '../page.ts'
import { Pages } from './lists.tsx'
import { NewToken, Tokens } from './tokens.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/credentials.ts'

interface Data {
  tokens: Listed<Records['ResourceAccessToken'][]>
  settings: Records['WebSettings']
}

export function resourceTokensPage(scope: 'project' | 'group'): Page<Data> {
  // Both have the same calls below their own prefix.
  const tokens = `/${scope}s/{id}/access_tokens` as '/projects/{id}/access_tokens'
  const one = `${tokens}/{token_id}` as '/projects/{id}/access_tokens/{token_id}'
  const rotation = `${one}/rotate` as '/projects/{id}/access_tokens/{token_id}/rotate'
  const frame: Frame = scope === 'project' ? projectSettingsFrame : groupSettingsFrame
  return declare<Data>({
    signedIn: true,
    frame,
    load: ({ api, params, query }) => ({
      tokens: api.list(tokens, { id: params.id!, state: 'active', ...listPage(query) }),
      settings: api.get('/application/web_settings', {}),
    }),
    title: () => common.accessTokens,
    View: ({ tokens, settings }) => (
      <>
        <h1>{common.accessTokens}</h1>
        <p class="quiet">{t.accessTokensActAsBot(scope)}</p>
        <NewToken settings={settings} roles={ROLES} />
        <Tokens tokens={tokens.items} />
        <Pages of={tokens} />
      </>
    ),
    actions: {
      async create({ api, params, form }) {
        const made = await api.post(tokens, {
          id: params.id!,
          name: text(form, 'name'),
          scopes: texts(form, 'scopes'),
          access_level: count(form, 'access_level'),
          expires_at: optional(form, 'expires_at'),
        })
        return { flash: { token: made.token } }
      },
      async rotate({ api, params, form }) {
        const made = await api.post(rotation, { id: params.id!, token_id: text(form, 'token') })
        return { flash: { token: made.token } }
      },
      async revoke({ api, params, form }) {
        await api.delete(one, { id: params.id!, token_id: text(form, 'token') })
      },
    },
  })
}
