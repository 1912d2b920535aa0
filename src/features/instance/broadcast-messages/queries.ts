import { z } from 'zod'
import { publicPolicy, resource } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import type { BroadcastMessage } from './model.ts'

export const broadcastMessage = resource({
  params: z.object({ id }),
  policy: publicPolicy,
  find: (app, { id }) => app.db.selectFrom('broadcast_messages').selectAll().where('id', '=', id).executeTakeFirst(),
})

export async function listBroadcastMessages(db: Db, { limit, offset }: PageWish): Promise<Page<BroadcastMessage>> {
  const messages = db.selectFrom('broadcast_messages')
  const items = await messages.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute()
  const { total } = await messages.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { items, total: Number(total) }
}
