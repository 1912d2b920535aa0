import { z } from 'zod'
import { tokenCredential } from '../../../api/credentials.ts'
import { notFound } from '../../../errors.ts'
import { sameSecret } from '../../../lib/crypto/secrets.ts'
import { findProject } from '../../projects/projects/queries.ts'
import { effectiveServices } from '../services/queries.ts'
import { serviceOf } from '../services/registry.ts'
import { settingsOf } from '../services/settings.ts'
import type { System } from './replies.ts'

const LONGEST = 255
export const short = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.string().max(LONGEST),
)

const SYSTEMS: Readonly<Record<string, System>> = {
  'slack-slash-commands': 'slack',
  'mattermost-slash-commands': 'mattermost',
}

const missing = () => notFound('Service')

/**
 * Proves that a request comes from the chat; the payload names the chat user. A missing project, an inactive service
 * and a wrong token all get the same answer.
 */
export const chatToken = tokenCredential({
  name: 'chat_token',
  callers: 'A chat, with the token of the integration.',
  params: { id: short, slug: short, token: z.string().max(2048) },
  refusals: [404],
  async find(app, token, { id, slug }) {
    const service = serviceOf(slug)
    const system = service && SYSTEMS[service.slug]
    const project = system ? await findProject(app.db, id) : null
    if (!system || !project) throw missing()
    const effective = (await effectiveServices(app.db, { project_id: project.id, group_id: null })).get(service.slug)
    if (!effective?.row.active) throw missing()
    const { token: known } = settingsOf(app, service, effective.row)
    if (typeof known !== 'string' || !sameSecret(token, known)) throw missing()
    return { system, project, row: effective.row }
  },
})
