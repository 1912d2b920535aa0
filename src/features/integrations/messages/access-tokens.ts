import type { App } from '../../../context.ts'
import type { Events } from '../../../store/database.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import { findNamespaceById } from '../../projects/projects/queries.ts'
import { source, groupMessage, projectMessage } from './message.ts'
import { hookProject, findProjectInNamespace, rowTime } from './shared.ts'

const SWITCH = 'resource_access_token_events'

async function expiringMessage(app: App, payload: Events['access_token.expiring']): Promise<EventMessage[]> {
  const { id, project_id, group_id } = payload
  const token = await app.db
    .selectFrom('access_tokens')
    .select(['user_id', 'created_at', 'id', 'name', 'expires_at'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!token) return []
  const rest = {
    object_attributes: {
      user_id: token.user_id,
      created_at: rowTime(token.created_at),
      id: token.id,
      name: token.name,
      expires_at: token.expires_at,
    },
    event_name: 'expiring_access_token',
  }
  if (project_id !== null) {
    const at = await findProjectInNamespace(app, project_id)
    if (!at) return []
    const body = { object_kind: 'access_token', project: hookProject(app, at), ...rest }
    return [projectMessage({ kind: 'access_token', switch: SWITCH, project_id, body })]
  }
  const group = group_id === null ? null : await findNamespaceById(app.db, group_id)
  if (!group) return []
  const { name: group_name, path: group_path, full_path } = group
  const body = { object_kind: 'access_token', group: { group_name, group_path, group_id, full_path }, ...rest }
  return [groupMessage('access_token', SWITCH, group.id, body)]
}

export const accessTokenSources = [source('access_token.expiring', [SWITCH], expiringMessage)]
