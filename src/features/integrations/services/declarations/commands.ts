import { required, secret, service } from '../declare.ts'

/** The chat calls this server, not the other way round: see `chat-commands`. */
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
