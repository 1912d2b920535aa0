import { z } from 'zod'
import { publicPolicy, resource } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { BroadcastMessage } from './model.ts'

export const broadcastMessage = resource({
  params: z.object({ id }),
  policy: publicPolicy,
  find: (app, { id }) => app.db.selectFrom('broadcast_messages').selectAll().where('id', '=', id).executeTakeFirst(),
})

export const listBroadcastMessages = (db: Db, page: PageWish): Promise<Page<BroadcastMessage>> =>
  pageOfQuery(db.selectFrom('broadcast_messages').selectAll().orderBy('id', 'desc'), page)
