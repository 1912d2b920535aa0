import { Reporter } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import { takenNow, type BinKind } from '../bin/kinds.ts'
import { scopeOf } from '../bin/scopes.ts'
import { recordMilestone } from '../events/service.ts'
import { lockItemsWith } from '../settling.ts'
import { lockMilestoneTitle, milestonesTitled } from './titles.ts'

export const milestoneBin: BinKind = {
  key: 'milestone',
  one: 'a milestone',
  table: 'milestones',
  level: Reporter,
  leaving: (app, { record_id }) => lockItemsWith(app, { milestone: record_id }),
  async deleted(app, { record_id: id, project_id, group_id, iid, title, deleted_by_id: by }) {
    if (by === null) return // The user was removed meanwhile.
    await recordMilestone(app, by, { id, iid: iid!, title, project_id }, 'destroyed')
    await emit(app, 'milestone.deleted', { id, project_id, group_id, title, by })
  },
  async returned(app, item) {
    await lockMilestoneTitle(app, item.title)
    const titled = await milestonesTitled(app, await scopeOf(app, item), item.title)
    if (titled.some(({ id }) => id !== item.record_id)) throw takenNow(milestoneBin)
  },
  restored: (app, { record_id: id, project_id, group_id }) =>
    emit(app, 'milestone.restored', { id, project_id, group_id }),
}
