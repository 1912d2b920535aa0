import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { filled, limited, rule } from '../../../api/rules.ts'
import { blankable, bool, int, listOf, longText, moment, oneOf, text } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import { BroadcastMessageEntity, presentBroadcastMessage } from './entity.ts'
import { BROADCAST_TYPES, THEMES } from './model.ts'
import { broadcastMessage, listBroadcastMessages } from './queries.ts'
import { createBroadcastMessage, deleteBroadcastMessage, updateBroadcastMessage } from './service.ts'

export const list = endpoint({
  method: 'GET',
  path: '/broadcast_messages',
  summary: 'List broadcast messages',
  by: 'visitor',
  allow: 'anyone',
  input: z.object({ active: bool.nullish() }),
  output: pageOf(BroadcastMessageEntity),
  async handle({ app, input, page }) {
    const now = timestamp(app.clock)
    const { items, total } = await listBroadcastMessages(app.db, page, input.active ? now : null)
    return { total, items: items.map((row) => presentBroadcastMessage(row, now)) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/broadcast_messages/:id',
  summary: 'Get a broadcast message',
  on: broadcastMessage,
  by: 'visitor',
  allow: 'anyone',
  output: BroadcastMessageEntity,
  handle: async ({ app, subject }) => presentBroadcastMessage(subject, timestamp(app.clock)),
})

const message = filled(longText, 10_000)
const color = text.check(rule((value) => /^(#([0-9a-f]{3}|[0-9a-f]{6}))?$/i.test(value), 'must be a valid color code'))

const attributes = {
  starts_at: blankable(moment),
  ends_at: blankable(moment),
  color: color.nullish(),
  font: color.nullish(),
  target_path: limited(text, 255).nullish(),
  broadcast_type: oneOf(...BROADCAST_TYPES).nullish(),
  dismissable: bool.nullish(),
  target_access_levels: listOf(int.pipe(z.literal([10, 20, 30, 40, 50]))).nullish(),
  theme: oneOf(...THEMES).nullish(),
}

export const create = endpoint({
  method: 'POST',
  path: '/broadcast_messages',
  summary: 'Create a broadcast message',
  ...administratorsFirst,
  input: z.object({ message, ...attributes }),
  output: BroadcastMessageEntity,
  async handle({ app, input }) {
    const created = await createBroadcastMessage(app, input)
    return presentBroadcastMessage(created, timestamp(app.clock))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: '/broadcast_messages/:id',
  summary: 'Update a broadcast message',
  on: broadcastMessage,
  ...administratorsFirst,
  input: z.object({ message: message.nullish(), ...attributes }),
  output: BroadcastMessageEntity,
  async handle({ app, subject, input }) {
    const updated = await updateBroadcastMessage(app, subject, input)
    return presentBroadcastMessage(updated, timestamp(app.clock))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/broadcast_messages/:id',
  summary: 'Delete a broadcast message',
  on: broadcastMessage,
  ...administratorsFirst,
  changedAt: (row) => row.updated_at,
  output: null,
  handle: ({ app, subject }) => deleteBroadcastMessage(app, subject),
})
