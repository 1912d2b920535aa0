import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { id, longText } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import { chatToken, short } from './credentials.ts'
import { ChatNameEntity, presentChatName } from './entity.ts'
import { findChatName, listChatNames } from './queries.ts'
import { ReplyEntity } from './replies.ts'
import { answerChat, deleteChatName } from './service.ts'

const fromChat = {
  text: longText.nullish(),
  command: short.nullish(),
  team_id: short.nullish(),
  team_domain: short.nullish(),
  user_id: short.nullish(),
  user_name: short.nullish(),
  channel_name: short.nullish(),
}

const trigger = (era: 'services' | 'integrations') =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${era}/:slug/trigger`,
    summary: 'Run a slash command from a chat',
    by: chatToken,
    allow: 'anyone',
    input: z.object(fromChat),
    output: ReplyEntity,
    status: 200,
    handle: ({ app, credential, caller, limiter, userAgent, input }) =>
      answerChat(app, credential, input, { userAgent, address: caller.address, limiter }),
  })

export const triggerByOlderName = trigger('services')
export const triggerCommand = trigger('integrations')

export const list = endpoint({
  method: 'GET',
  path: '/user/chat_names',
  summary: 'List who one is in chats',
  allow: 'signed_in',
  output: pageOf(ChatNameEntity),
  async handle({ app, viewer, page }) {
    const { items, total } = await listChatNames(app, viewer, page)
    return { total, items: items.map(presentChatName) }
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/user/chat_names/:chat_name_id',
  summary: 'Remove a chat account link',
  allow: 'signed_in',
  input: z.object({ chat_name_id: id }),
  output: null,
  async handle({ app, viewer, input }) {
    const name = await findChatName(app, viewer, input.chat_name_id)
    if (!name || !(await deleteChatName(app, name, viewer))) throw notFound()
  },
})
