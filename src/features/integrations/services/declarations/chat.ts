import {
  chatMarkup,
  discordMarkup,
  htmlMarkup,
  markdownMarkup,
  plainMarkup,
  slackMarkup,
  written,
  type Markup,
} from '../chat/markup.ts'
import { chatMessage, type ChatMessage } from '../chat/sentences.ts'
import {
  choice,
  flag,
  line,
  requiredButMayBeBlank,
  required,
  secret,
  secretUrl,
  service,
  url,
  type Field,
} from '../declare.ts'
import type { ServiceEvent } from '../model.ts'
import { postForm, postJson } from '../requests.ts'
import { digestOf } from '../../../../lib/crypto/secrets.ts'
import { cut, isCreation, isDeletion, textOf, type ServicePayload } from '../payload.ts'

const CHAT_EVENTS: readonly ServiceEvent[] = [
  'push',
  'tag_push',
  'issue',
  'confidential_issue',
  'incident',
  'merge_request',
  'note',
  'confidential_note',
  'pipeline',
  'wiki_page',
  'deployment',
]

export const BRANCHES = ['all', 'default', 'protected', 'default_and_protected'] as const

/** Filters of events: `filters.ts` applies them to every service that has these fields. */
export const filters = {
  notify_only_broken_pipelines: flag(true),
  /** The older field for two of the four values. */
  notify_only_default_branch: flag(true),
  branches_to_be_notified: choice('default', ...BRANCHES),
}

const channels = Object.fromEntries(CHAT_EVENTS.map((event) => [`${event}_channel`, line()])) as Record<string, Field>

/** A shorter excerpt is useless. */
const LEAST = 20

/** Commits one per line, or the text by users. */
function detailsIn(markup: Markup, { details }: ChatMessage, most: number): string {
  if (!details || most < LEAST) return ''
  const lines = details.lines?.map((line) => written(markup, line)) ?? []
  const whole = lines.length > 0 ? withinLines(lines, most) : markup.prose(cut(details.text ?? '', most))
  // Escaping has made the text too long.
  return whole.length > most ? markup.prose(cut(details.text ?? '', Math.floor(most / 6))) : whole
}

/** As many whole lines as fit: half a link does not work. */
function withinLines(lines: readonly string[], most: number): string {
  let text = ''
  for (const line of lines) {
    if (text.length + line.length + 1 > most) return text
    text += text ? `\n${line}` : line
  }
  return text
}

const COLORS = { plain: '#345', open: '#C95823', good: 'good', bad: 'danger' }
const HEX = { plain: 0x334455, open: 0xc95823, good: 0x36a64f, bad: 0xd00000 }
const LONGEST_TITLE = 500

/** The attachment format of Slack, which Mattermost also reads. */
function slackPayload(payload: ServicePayload, markup: Markup, most: number) {
  const message = chatMessage(payload)
  if (!message) return null
  const sentence = written(markup, message.sentence)
  const details = detailsIn(markup, message, most)
  const color = COLORS[message.mood]
  const isPipeline = payload.event === 'pipeline'
  const title = message.details?.title
  const attachment = isPipeline
    ? { fallback: sentence, text: sentence, color }
    : {
        ...(title && { title: markup.text(cut(title.text, LONGEST_TITLE)), title_link: title.url }),
        ...((title ?? details) && { text: details, color }),
      }
  const channel = textOf(payload, `${payload.event}_channel`) || textOf(payload, 'channel')
  const username = textOf(payload, 'username')
  return {
    text: isPipeline ? '' : sentence,
    ...(username && { username }),
    ...(channel && { channel }),
    attachments: Object.keys(attachment).length > 0 ? [attachment] : [],
    fallback: sentence,
  }
}

function slackLike(slug: string, title: string, markup: Markup, most: number) {
  return service({
    slug,
    title,
    fields: { webhook: required(secretUrl), channel: line(), username: line(), ...filters, ...channels },
    events: CHAT_EVENTS,
    requests(payload) {
      const slack = slackPayload(payload, markup, most)
      if (!slack) return []
      // Several channels need several messages, according to the documentation of the service.
      const [first, ...more] = (slack.channel ?? '')
        .split(',')
        .map((name) => name.trim())
        .slice(0, 10)
      return [first, ...more].map((channel) =>
        postForm(textOf(payload, 'webhook'), { payload: JSON.stringify({ ...slack, ...(channel && { channel }) }) }),
      )
    },
  })
}

export const slack = slackLike('slack', 'Slack notifications', slackMarkup, 8000)
export const mattermost = slackLike('mattermost', 'Mattermost notifications', markdownMarkup, 8000)

const webhook = { webhook: required(secretUrl), ...filters }

export const microsoftTeams = service({
  slug: 'microsoft-teams',
  title: 'Microsoft Teams notifications',
  fields: webhook,
  events: CHAT_EVENTS,
  requests(payload) {
    const message = chatMessage(payload)
    if (!message) return []
    const details = detailsIn(markdownMarkup, message, 16_000)
    const title = message.details?.title
    const sentence = written(markdownMarkup, message.sentence)
    return [
      postJson(textOf(payload, 'webhook'), {
        title: message.project.text,
        summary: cut(written(plainMarkup, message.sentence), LONGEST_TITLE),
        sections: [
          {
            activityTitle: sentence,
            activitySubtitle: written(markdownMarkup, [message.project]),
            activityText: title ? written(markdownMarkup, [{ ...title, text: cut(title.text, LONGEST_TITLE) }]) : '',
            ...(message.avatar && { activityImage: message.avatar }),
          },
          ...(details ? [{ title: 'Details', facts: [{ name: 'Details', value: details }] }] : []),
        ],
      }),
    ]
  },
})

/** The sentence and its details, one below the other. */
function plainNoteable(markup: Markup, message: ChatMessage, most: number): string {
  const sentence = written(markup, message.sentence)
  const title = message.details?.title
  const head = title
    ? `${sentence}\n${written(markup, [{ ...title, text: cut(title.text, LONGEST_TITLE) }])}`
    : sentence
  if (head.length > most) return markup.text(cut(written(plainMarkup, message.sentence), Math.floor(most / 6)))
  const details = detailsIn(markup, message, most - head.length - 1)
  return details ? `${head}\n${details}` : head
}

export const discord = service({
  slug: 'discord',
  title: 'Discord Notifications',
  fields: {
    ...webhook,
    ...Object.fromEntries(Object.keys(channels).map((name) => [name, { ...secretUrl }])),
  },
  events: CHAT_EVENTS,
  requests(payload) {
    const message = chatMessage(payload)
    if (!message) return []
    const to = textOf(payload, `${payload.event}_channel`) || textOf(payload, 'webhook')
    return [
      postJson(to, {
        embeds: [
          {
            author: { name: cut(message.by, 256), ...(message.avatar && { icon_url: message.avatar }) },
            description: plainNoteable(discordMarkup, message, 4096),
            color: HEX[message.mood],
          },
        ],
        // Mentions nobody, whatever the text says.
        allowed_mentions: { parse: [] },
      }),
    ]
  },
})

export const telegram = service({
  slug: 'telegram',
  title: 'Telegram',
  fields: { hostname: url, token: required(secret), room: required(line()), thread: line(), ...filters },
  events: CHAT_EVENTS.filter((event) => event !== 'deployment'),
  requests(payload) {
    const message = chatMessage(payload)
    if (!message) return []
    const base = (textOf(payload, 'hostname') || 'https://api.telegram.org').replace(/\/+$/, '')
    const thread = textOf(payload, 'thread')
    return [
      postJson(`${base}/bot${encodeURIComponent(textOf(payload, 'token')).replaceAll('%3A', ':')}/sendMessage`, {
        chat_id: textOf(payload, 'room'),
        text: plainNoteable(htmlMarkup, message, 4096),
        parse_mode: 'HTML',
        disable_web_page_preview: true,
        ...(thread && { message_thread_id: Number(thread) || thread }),
      }),
    ]
  },
})

export const matrix = service({
  slug: 'matrix',
  title: 'Matrix notifications',
  fields: { hostname: url, token: required(secret), room: required(line()), ...filters },
  events: CHAT_EVENTS.filter((event) => event !== 'deployment'),
  requests(payload) {
    const content = chatMessage(payload)
    if (!content) return []
    const base = (textOf(payload, 'hostname') || 'https://matrix-client.matrix.org').replace(/\/+$/, '')
    const room = encodeURIComponent(textOf(payload, 'room'))
    const message = {
      msgtype: 'm.text',
      body: plainNoteable(plainMarkup, content, 10_000),
      format: 'org.matrix.custom.html',
      formatted_body: plainNoteable(htmlMarkup, content, 20_000).replaceAll('\n', '<br>'),
      // Mentions nobody. Without this field older clients search the text for names.
      'm.mentions': {},
    }
    // Equal for every retry, so that the message appears once.
    const transaction = digestOf(JSON.stringify([payload.project.id, payload.event, payload.body]))
    const address = `${base}/_matrix/client/v3/rooms/${room}/send/m.room.message/${transaction}`
    return [{ ...postJson(address, message, { Authorization: `Bearer ${textOf(payload, 'token')}` }), method: 'PUT' }]
  },
})

export const hangoutsChat = service({
  slug: 'hangouts-chat',
  title: 'Google Chat',
  fields: webhook,
  events: CHAT_EVENTS.filter((event) => event !== 'deployment'),
  requests(payload) {
    const message = chatMessage(payload)
    if (!message) return []
    // Messages about the same record share a thread.
    const { iid, id } = payload.body.object_attributes ?? {}
    const about = `${payload.project.path_with_namespace} ${payload.event.replace('confidential_', '')} ${iid ?? id ?? payload.body.ref ?? ''}`
    const address = new URL(textOf(payload, 'webhook'))
    address.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD')
    return [postJson(String(address), { text: plainNoteable(chatMarkup, message, 4096), thread: { threadKey: about } })]
  },
})

export const webexTeams = service({
  slug: 'webex-teams',
  title: 'Webex Teams',
  fields: webhook,
  events: CHAT_EVENTS.filter((event) => event !== 'deployment'),
  requests(payload) {
    const message = chatMessage(payload)
    // The limit is in bytes, and a character has up to three.
    return message
      ? [postJson(textOf(payload, 'webhook'), { markdown: plainNoteable(markdownMarkup, message, 2400) })]
      : []
  },
})

export const unifyCircuit = service({
  slug: 'unify-circuit',
  title: 'Unify Circuit',
  fields: webhook,
  events: CHAT_EVENTS.filter((event) => event !== 'deployment'),
  requests(payload) {
    const message = chatMessage(payload)
    if (!message) return []
    const text = plainNoteable(markdownMarkup, message, 2000)
    return [postJson(textOf(payload, 'webhook'), { subject: cut(message.project.text, 250), text, markdown: true })]
  },
})

export const pumble = service({
  slug: 'pumble',
  title: 'Pumble',
  fields: webhook,
  events: CHAT_EVENTS.filter((event) => event !== 'deployment'),
  requests(payload) {
    const message = chatMessage(payload)
    return message ? [postJson(textOf(payload, 'webhook'), { text: plainNoteable(slackMarkup, message, 8000) })] : []
  },
})

export const pushover = service({
  slug: 'pushover',
  title: 'Pushover',
  fields: {
    api_key: required(secret),
    user_key: required(secret),
    priority: required(choice(null, '-2', '-1', '0', '1')),
    device: requiredButMayBeBlank(line()),
    sound: requiredButMayBeBlank(line(30)),
  },
  events: ['push'],
  requests(payload) {
    const message = chatMessage(payload)
    if (!message) return []
    const { body, project } = payload
    const count = body.total_commits_count ?? 0
    const sentence = written(plainMarkup, message.sentence).replace(' (Compare changes)', '')
    const isUpdate = !isCreation(body) && !isDeletion(body)
    const more = isUpdate && count > 0 ? `\nTotal commits count: ${count}` : ''
    const form = {
      token: textOf(payload, 'api_key'),
      user: textOf(payload, 'user_key'),
      device: textOf(payload, 'device'),
      priority: textOf(payload, 'priority'),
      sound: textOf(payload, 'sound'),
      title: cut(project.name_with_namespace, 250),
      message: cut(sentence, 1024 - more.length) + more,
      url: project.web_url.length <= 512 ? project.web_url : '',
      url_title: cut(`See project ${project.name_with_namespace}`, 100),
    }
    const given = Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''))
    return [postForm('https://api.pushover.net/1/messages.json', given)]
  },
})
