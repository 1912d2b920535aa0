/** Form actions of discussions, the same for issues and merge requests. */
import { text, type Act, type Page } from '../page.ts'
import { undoable } from '../undo.ts'
import * as t from '../texts/planning.ts'

type Kind = readonly [kind: 'issues', key: 'issue_iid'] | readonly [kind: 'merge_requests', key: 'merge_request_iid']

export const OF_ISSUES: Kind = ['issues', 'issue_iid']
export const OF_MERGE_REQUESTS: Kind = ['merge_requests', 'merge_request_iid']

type Actions = NonNullable<Page['actions']>

/** `params.iid` names the record. */
export function noteActions([kind, key]: Kind): Actions {
  // Both have the same fields; the types are those of issues.
  const at = (rest: string) => `/projects/{id}/${kind}/{${key}}/${rest}` as unknown
  const on = ({ params }: Act) => ({ id: params.id!, [key]: params.iid! }) as { id: string; issue_iid: string }
  const discussions = at('discussions') as '/projects/{id}/issues/{issue_iid}/discussions'
  const notes = at('notes') as '/projects/{id}/issues/{issue_iid}/notes'
  const replies = `${discussions}/{discussion_id}/notes` as const
  const note = `${replies}/{note_id}` as const
  const awards = at('award_emoji') as '/projects/{id}/issues/{issue_iid}/award_emoji'
  const noteAwards = `${notes}/{note_id}/award_emoji` as const
  const reply = (form: Act['form']) => ({ discussion_id: text(form, 'discussion_id') })
  const thisNote = (form: Act['form']) => ({ ...reply(form), note_id: text(form, 'note_id') })

  return {
    async comment(act) {
      const body = text(act.form, 'body')
      const internal = text(act.form, 'internal') === 'true'
      const fields = { ...on(act), body, ...(internal && { internal }) }
      if (text(act.form, 'thread') === 'true') await act.api.post(discussions, fields)
      else await act.api.post(notes, fields)
    },
    async reply(act) {
      await act.api.post(replies, { ...on(act), ...reply(act.form), body: text(act.form, 'body') })
    },
    async editNote(act) {
      await act.api.put(note, { ...on(act), ...thisNote(act.form), body: text(act.form, 'body') })
    },
    async deleteNote(act) {
      await act.api.delete(note, { ...on(act), ...thisNote(act.form) })
    },
    async react(act) {
      const note_id = text(act.form, 'note_id')
      const award_id = text(act.form, 'award_id')
      const name = text(act.form, 'name')
      if (note_id === '' && award_id === '') await act.api.post(awards, { ...on(act), name })
      else if (note_id === '') await act.api.delete(`${awards}/{award_id}`, { ...on(act), award_id })
      else if (award_id === '') await act.api.post(noteAwards, { ...on(act), note_id, name })
      else await act.api.delete(`${noteAwards}/{award_id}`, { ...on(act), note_id, award_id })
    },
    /** For resolvable threads. */
    async resolve(act) {
      const resolved = text(act.form, 'resolved') === 'true'
      const thread = '/projects/{id}/merge_requests/{merge_request_iid}/discussions/{discussion_id}'
      const { id, iid } = act.params
      await act.api.put(thread, { id: id!, merge_request_iid: iid!, ...reply(act.form), resolved })
      const fields = { ...reply(act.form), resolved: String(!resolved) }
      return undoable(resolved ? t.threadResolved : t.threadReopened, 'resolve', fields)
    },
  }
}
