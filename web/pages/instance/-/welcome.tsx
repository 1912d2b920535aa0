/** The first steps, as far as they are done. */
import type { Records } from '../../../api.ts'
import { page as declare, text } from '../../../page.ts'
import { FirstSteps, begin } from './FirstSteps.tsx'

interface Data {
  project: Records['Project'] | null
  tokens: Records['PersonalAccessToken'][]
  keys: Records['SshKey'][]
}

export const page = declare<Data>({
  signedIn: true,
  load({ api, query, me }) {
    const id = query.get('project')
    return {
      project: id ? api.maybe('/projects/{id}', { id }) : null,
      tokens: api.get('/personal_access_tokens', { user_id: me!.id, state: 'active', per_page: 20 }),
      keys: api.get('/user/keys', { per_page: 20 }),
    }
  },
  title: () => 'Welcome',
  View: ({ me, project, tokens, keys }) => <FirstSteps me={me!} project={project} tokens={tokens} keys={keys} />,
  live: ({ project }) => project && { path: `/projects/${project.id}/live`, events: ['repository.changed'] },
  actions: {
    begin,
    async token({ api }) {
      const made = await api.post('/user/personal_access_tokens', {
        name: 'First push',
        scopes: ['api', 'write_repository'],
      })
      return { told: { token: made.token } }
    },
    async key({ api, form }) {
      await api.post('/user/keys', { title: 'First key', key: text(form, 'key') })
    },
  },
})
