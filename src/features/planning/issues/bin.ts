import { Owner } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import type { BinKind } from '../bin/kinds.ts'

export const issueBin: BinKind = {
  key: 'issue',
  one: 'an issue',
  table: 'issues',
  level: Owner,
  async deleted(app, { record_id: id, project_id, iid, title, deleted_by_id: by }) {
    // The user may have been removed meanwhile.
    if (by !== null) await emit(app, 'issue.deleted', { id, project_id: project_id!, iid: iid!, title, by })
  },
  restored: (app, { record_id: id, project_id }) => emit(app, 'issue.restored', { id, project_id: project_id! }),
}
