import type { App } from '../../../context.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import type { AwardEmoji } from '../../planning/award-emoji/model.ts'
import { source, projectMessage } from './message.ts'
import { findNote, loadHookTarget, noteAttributes, noteUrl } from './notes.ts'
import { hookProject, hookUserById, findProjectInNamespace, rowTime, type ProjectInNamespace } from './shared.ts'

const SWITCHES = ['emoji_events'] as const

/** No switch exists for reactions to confidential records, so no message is sent for them. */
async function emojiMessages(
  app: App,
  award: AwardEmoji,
  { project_id, by }: { project_id: number | null; by: number },
  action: 'award' | 'revoke',
): Promise<EventMessage[]> {
  const at = project_id === null ? null : await findProjectInNamespace(app, project_id)
  const awarded = at && (await loadAwarded(app, at, award))
  if (!at || !awarded) return []
  const body = {
    object_kind: 'emoji',
    event_type: action,
    user: await hookUserById(app, by),
    project_id: at.project.id,
    project: hookProject(app, at),
    object_attributes: {
      id: award.id,
      user_id: award.user_id,
      name: award.name,
      awardable_type: awarded.type,
      awardable_id: awarded.id,
      created_at: rowTime(award.created_at),
      updated_at: rowTime(award.updated_at),
      action,
      awarded_on_url: awarded.url,
    },
    ...awarded.body,
  }
  const message = { kind: 'emoji', switch: 'emoji_events', project_id: at.project.id } as const
  return [projectMessage({ ...message, body, complete: !awarded.isOpen })]
}

async function loadAwarded(app: App, at: ProjectInNamespace, award: AwardEmoji) {
  const { issue_id, merge_request_id, snippet_id, note_id } = award
  const note = note_id === null ? null : await findNote(app, note_id)
  if (note_id !== null && (!note || note.internal)) return null
  const target = await loadHookTarget(app, at, note ?? award)
  if (!target || target.confidential) return null
  const { isOpen } = target
  if (note) {
    const body = { note: noteAttributes(app, note, at, target), ...target.body }
    return { type: 'Note', id: note.id, url: noteUrl(target, note.id), body, isOpen }
  }
  const type = issue_id !== null ? 'Issue' : merge_request_id !== null ? 'MergeRequest' : 'Snippet'
  return { type, id: issue_id ?? merge_request_id ?? snippet_id, url: target.url, body: target.body, isOpen }
}

export const emojiSources = [
  source('award_emoji.created', SWITCHES, async (app, event) => {
    const award = await app.db.selectFrom('award_emoji').selectAll().where('id', '=', event.id).executeTakeFirst()
    return award ? emojiMessages(app, award, event, 'award') : []
  }),
  source('award_emoji.deleted', SWITCHES, (app, event) => emojiMessages(app, event, event, 'revoke')),
]
