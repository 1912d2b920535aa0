/** Replies to the chat: visible to the whole channel, or only to the user who ran the command. */
import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { markdownMarkup, slackMarkup, written, type Markup } from '../services/chat/markup.ts'
import type { Link, Piece } from '../services/chat/sentences.ts'
import { cut } from '../services/payload.ts'

export const ReplyEntity = entity({
  response_type: z.enum(['ephemeral', 'in_channel']),
  text: z.string(),
  attachments: z
    .array(entity({ title: z.string(), title_link: z.string(), text: z.string(), color: z.string() }))
    .optional(),
}).meta({ id: 'ChatReply' })

export type ChatReply = z.infer<typeof ReplyEntity>

export interface Reply {
  readonly pieces: readonly Piece[]
  readonly isForAll?: boolean
  readonly details?: { readonly title: Link; readonly text: string; readonly color?: string }
}

const LONGEST_TEXT = 2000
const LONGEST_TITLE = 300

export type System = 'slack' | 'mattermost'

const MARKUP: Record<System, Markup> = { slack: slackMarkup, mattermost: markdownMarkup }

export function replyOf(system: System, { pieces, isForAll = false, details }: Reply): ChatReply {
  const markup = MARKUP[system]
  return {
    response_type: isForAll ? 'in_channel' : 'ephemeral',
    text: written(markup, pieces),
    ...(details && {
      attachments: [
        {
          title: markup.text(cut(details.title.text, LONGEST_TITLE)),
          title_link: details.title.url,
          text: markup.prose(cut(details.text, LONGEST_TEXT)),
          color: details.color ?? '#C95823',
        },
      ],
    }),
  }
}
