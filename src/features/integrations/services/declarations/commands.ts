import { required, secret, service } from '../declare.ts'

/** They are told by the chat system, not the other way: `chat-commands` answers it. */
export const slackSlashCommands = service({
  slug: 'slack-slash-commands',
  title: 'Slack slash commands',
  fields: { token: required(secret) },
  events: [],
})

export const mattermostSlashCommands = service({
  slug: 'mattermost-slash-commands',
  title: 'Mattermost slash commands',
  fields: { token: required(secret) },
  events: [],
})
