import { child } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import { group } from '../groups/queries.ts'

export type GroupShare = Row<'group_shares'>

/** `/groups/:id/share/:group_id` */
export const groupShare = child(group, {
  name: 'Group Link',
  key: 'share',
  params: { group_id: id },
  find: (app, { group }, { group_id }) =>
    app.db
      .selectFrom('group_shares')
      .selectAll()
      .where('group_id', '=', group.id)
      .where('shared_with_group_id', '=', group_id)
      .executeTakeFirst(),
})
