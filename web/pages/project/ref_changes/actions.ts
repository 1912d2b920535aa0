import type { Api } from '../../../api.ts'
import { text, type Act, type Flash } from '../../../page.ts'
import { undoable } from '../../../undo.ts'

/** After the deletion of a branch or tag: the message offers to bring the ref back. */
export async function deletedRef(api: Api, id: string, ref: string, done: string): Promise<Flash> {
  const { items } = await api.list('/projects/{id}/repository/ref_changes', { id, ref, per_page: 1 })
  const [change] = items
  return change ? undoable(done, 'undo', { change: change.id }) : { flash: { done } }
}

export async function undoChange({ api, params, form }: Act): Promise<void> {
  const change_id = text(form, 'change')
  await api.post('/projects/{id}/repository/ref_changes/{change_id}/undo', { id: params.id!, change_id })
}
