/** The first steps, with their progress. */
import type { Records } from '../../../api.ts'
import { page as declare, text } from '../../../page.ts'
import { FirstSteps, begin } from './FirstSteps.tsx'
import * as t from '../../../texts/home.ts'

interface Data {
  settings: Records['WebSettings']
  project: Records['Project'] | null
  tokens: Records['PersonalAccessToken'][]
  keys: Records['SshKey'][]
}

export const page = declare<Data>({
  signedIn: true,
  load({ api, query, me }) {
    const id = query.get('project')
    return {
      settings: api.get('/application/web_settings', {}),
      project: id ? api.maybe('/projects/{id}', { id }) : null,
      tokens: api.get('/personal_access_tokens', { user_id: me!.id, state: 'active', per_page: 20 }),
      keys: api.get('/user/keys', { per_page: 20 }),
    }
  },
  title: () => t.welcome,
  View: ({ me, ...data }) => <FirstSteps {...data} me={me!} />,
  live: ({ project }) => project && { path: `/projects/${project.id}/live`, events: ['repository.changed'] },
  actions: {
    begin,
    async token({ api }) {
      const settings = await api.get('/application/web_settings', {})
      const made = await api.post('/user/personal_access_tokens', {
        name: t.firstPush,
        scopes: ['api', 'write_repository'],
        // If a maximum lifetime is set, the server knows the latest date.
        ...(settings.require_personal_access_token_expiry && {
          expires_at: settings.latest_token_expiry ?? inAMonth(),
        }),
      })
      return { flash: { token: made.token } }
    },
    async key({ api, form }) {
      await api.post('/user/keys', { title: t.firstKey, key: text(form, 'key') })
    },
  },
})

const inAMonth = () => new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)
