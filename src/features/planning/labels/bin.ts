import { Reporter } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import { takenNow, type BinKind } from '../bin/kinds.ts'
import { scopeOf } from '../bin/scopes.ts'
import { isSeenFrom } from '../scopes.ts'
import { lockItemsWith } from '../settling.ts'
import { lockTitle } from './titles.ts'

export const labelBin: BinKind = {
  key: 'label',
  one: 'a label',
  table: 'labels',
  level: Reporter,
  leaving: (app, { record_id }) => lockItemsWith(app, { label: record_id }),
  async deleted(app, { record_id: id, project_id, group_id, title, deleted_by_id: by }) {
    // The user may have been removed meanwhile.
    if (by !== null) await emit(app, 'label.deleted', { id, project_id, group_id, title, by })
  },
  async returned(app, item) {
    await lockTitle(app, item.title)
    const other = await app.db
      .selectFrom('labels')
      .select('id')
      .where('title', '=', item.title)
      .where('id', '!=', item.record_id)
      .where(isSeenFrom(await scopeOf(app, item), 'labels'))
      .limit(1)
      .executeTakeFirst()
    if (other) throw takenNow(labelBin)
  },
  restored: (app, { record_id: id, project_id, group_id }) => emit(app, 'label.restored', { id, project_id, group_id }),
}
