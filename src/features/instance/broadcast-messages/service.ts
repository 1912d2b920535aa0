import { HOUR, after, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { invalid, type FieldErrors } from '../../../errors.ts'
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
  assertValid(input)
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
  assertValid(input)
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

const COLOR = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i
const LONGEST_MESSAGE = 10_000
const LONGEST_PATH = 255

const tooLong = (most: number) => [`is too long (maximum is ${most} characters)`]

function assertValid({ message, color, font, target_path }: BroadcastMessageInput): void {
  const faults: FieldErrors = {}
  if (message?.trim() === '') faults.message = ["can't be blank"]
  if (message && message.length > LONGEST_MESSAGE) faults.message = tooLong(LONGEST_MESSAGE)
  if (color && !COLOR.test(color)) faults.color = ['must be a valid color code']
  if (font && !COLOR.test(font)) faults.font = ['must be a valid color code']
  if (target_path && target_path.length > LONGEST_PATH) faults.target_path = tooLong(LONGEST_PATH)
  if (Object.keys(faults).length > 0) throw invalid(faults)
}
