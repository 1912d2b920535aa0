/** Undo of changes of a wiki. */
import { text, type Act, type Flash } from '../../../page.ts'
import { undoable } from '../../../undo.ts'

const CHANGES = '/projects/{id}/wikis/ref_changes'

/** The message offers to undo the change, unless another change of the wiki happened at the same time. */
export async function undoableChange<T>({ api, params }: Act, make: () => Promise<T>) {
  const newest = async (per_page: number) =>
    (await api.list(CHANGES, { id: params.id!, per_page })).items.map(({ id }) => id)
  const [before] = await newest(1)
  const result = await make()
  const [change, previous] = await newest(2)
  const isOurs = change !== undefined && change !== before && previous === before
  return {
    result,
    undoable: (done: string): Flash => (isOurs ? undoable(done, 'undo', { change }) : { flash: { done } }),
  }
}

export async function undoWikiChange({ api, params, form }: Act): Promise<void> {
  await api.post(`${CHANGES}/{change_id}/undo`, { id: params.id!, change_id: text(form, 'change') })
}
