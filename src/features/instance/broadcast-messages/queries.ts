import { z } from 'zod'
import { policy, resource } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { BroadcastMessage } from './model.ts'

/** Everybody is told; who may write is the endpoints' matter. */
const broadcastMessagePolicy = policy<BroadcastMessage>()({ read: () => true })

export const broadcastMessage = resource({
  params: z.object({ id }),
  policy: broadcastMessagePolicy,
  find: (app, { id }) => app.db.selectFrom('broadcast_messages').selectAll().where('id', '=', id).executeTakeFirst(),
})

export const listBroadcastMessages = (db: Db, page: PageWish): Promise<Page<BroadcastMessage>> =>
  pageOfQuery(db.selectFrom('broadcast_messages').selectAll().orderBy('id', 'desc'), page)
