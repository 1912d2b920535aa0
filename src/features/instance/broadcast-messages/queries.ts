import { z } from 'zod'
import { publicPolicy, resource } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { BroadcastMessage } from './model.ts'

export const broadcastMessage = resource({
  params: z.object({ id }),
  policy: publicPolicy,
  find: (app, { id }) => app.db.selectFrom('broadcast_messages').selectAll().where('id', '=', id).executeTakeFirst(),
})

/** If `now` is given, only messages that are shown at that moment. */
export function listBroadcastMessages(db: Db, page: PageRequest, now: string | null): Promise<Page<BroadcastMessage>> {
  const all = db.selectFrom('broadcast_messages').selectAll().orderBy('id', 'desc')
  return pageOfQuery(now ? all.where('starts_at', '<=', now).where('ends_at', '>=', now) : all, page)
}
