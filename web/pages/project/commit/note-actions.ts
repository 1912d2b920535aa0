/** Form actions of the discussions on a commit. */
import { text, type Act, type Page } from '../../../page.ts'
import { commenting } from '../../../components/positions.ts'

const DISCUSSIONS = '/projects/{id}/repository/commits/{sha}/discussions'

const on = ({ params }: Act) => ({ id: params.id!, sha: params.sha! })
const thread = ({ form }: Act) => ({ discussion_id: text(form, 'discussion_id') })
const note = (act: Act) => ({ ...thread(act), note_id: text(act.form, 'note_id') })
const numberIn = ({ form }: Act, name: string) => (text(form, name) ? Number(text(form, name)) : null)

export const commitNoteActions: NonNullable<Page['actions']> = {
  async comment(act) {
    await act.api.post(DISCUSSIONS, { ...on(act), body: text(act.form, 'body') })
  },
  async lineComment(act) {
    const { form } = act
    const position = {
      position_type: 'text' as const,
      base_sha: text(form, 'base_sha'),
      start_sha: text(form, 'base_sha'),
      head_sha: text(form, 'head_sha'),
      old_path: text(form, 'old_path'),
      new_path: text(form, 'new_path'),
      old_line: numberIn(act, 'old_line'),
      new_line: numberIn(act, 'new_line'),
    }
    await act.api.post(DISCUSSIONS, { ...on(act), body: text(form, 'body'), position })
    if (act.query.get('comment')) return commenting(act.address, null)
  },
  async reply(act) {
    await act.api.post(`${DISCUSSIONS}/{discussion_id}/notes`, {
      ...on(act),
      ...thread(act),
      body: text(act.form, 'body'),
    })
  },
  async editNote(act) {
    const path = `${DISCUSSIONS}/{discussion_id}/notes/{note_id}` as const
    await act.api.put(path, { ...on(act), ...note(act), body: text(act.form, 'body') })
  },
  async deleteNote(act) {
    await act.api.delete(`${DISCUSSIONS}/{discussion_id}/notes/{note_id}`, { ...on(act), ...note(act) })
  },
}
