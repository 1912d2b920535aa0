import { HOUR, after, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { BroadcastMessage } from './model.ts'

export interface BroadcastMessageInput {
  message?: string | null
  starts_at?: string | null
  ends_at?: string | null
  color?: string | null
  font?: string | null
  target_path?: string | null
  broadcast_type?: BroadcastMessage['broadcast_type'] | null
  dismissable?: boolean | null
  target_access_levels?: number[] | null
  theme?: BroadcastMessage['theme'] | null
}

export async function createBroadcastMessage(
  app: App,
  input: BroadcastMessageInput & { message: string },
): Promise<BroadcastMessage> {
  const now = timestamp(app.clock)
  return app.db
    .insertInto('broadcast_messages')
    .values({
      message: input.message,
      starts_at: input.starts_at ?? now,
      ends_at: input.ends_at ?? after(app.clock, HOUR),
      color: input.color ?? '#E75E40',
      font: input.font ?? '#FFFFFF',
      target_path: input.target_path || null,
      broadcast_type: input.broadcast_type ?? 'banner',
      dismissable: input.dismissable ?? true,
      target_access_levels: input.target_access_levels?.join() ?? '',
      theme: input.theme ?? 'indigo',
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updateBroadcastMessage(
  app: App,
  row: BroadcastMessage,
  input: BroadcastMessageInput,
): Promise<BroadcastMessage> {
  const { target_path, target_access_levels } = input
  return app.db
    .updateTable('broadcast_messages')
    .set({
      message: input.message ?? row.message,
      starts_at: input.starts_at ?? row.starts_at,
      ends_at: input.ends_at ?? row.ends_at,
      color: input.color ?? row.color,
      font: input.font ?? row.font,
      target_path: target_path === undefined ? row.target_path : target_path || null,
      broadcast_type: input.broadcast_type ?? row.broadcast_type,
      dismissable: input.dismissable ?? row.dismissable,
      target_access_levels: target_access_levels?.join() ?? row.target_access_levels,
      theme: input.theme ?? row.theme,
      updated_at: timestamp(app.clock),
    })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteBroadcastMessage(app: App, { id }: BroadcastMessage): Promise<void> {
  await app.db.deleteFrom('broadcast_messages').where('id', '=', id).execute()
}
