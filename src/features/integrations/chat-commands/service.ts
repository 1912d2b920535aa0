import type { CredentialRecord } from '../../../api/credentials.ts'
import type { RateLimiter } from '../../../api/limits.ts'
import type { App, User } from '../../../context.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { runCommand } from './commands.ts'
import type { chatToken } from './credentials.ts'
import type { ChatName } from './model.ts'
import { linkTo, userOf, type Chatter } from './names.ts'
import { parseCommand } from './parsing.ts'
import { replyOf, type ChatReply } from './replies.ts'

export interface ChatInput {
  readonly text?: string | null | undefined
  readonly command?: string | null | undefined
  readonly team_id?: string | null | undefined
  readonly team_domain?: string | null | undefined
  readonly user_id?: string | null | undefined
  readonly user_name?: string | null | undefined
  readonly channel_name?: string | null | undefined
}

interface Caller {
  readonly userAgent: string
  readonly address: string
  readonly limiter: RateLimiter
}

export async function answerChat(
  app: App,
  { system, project, row }: CredentialRecord<typeof chatToken>,
  input: ChatInput,
  { limiter, ...sender }: Caller,
): Promise<ChatReply> {
  if (!input.user_id || !input.team_id)
    return replyOf(system, { pieces: ['The chat request does not identify a user.'] })
  const chatter: Chatter = {
    service_id: row.id,
    team_id: input.team_id,
    team_domain: input.team_domain ?? null,
    chat_id: input.user_id,
    chat_name: input.user_name ?? null,
  }
  const actor = await userOf(app, chatter)
  if (!actor) {
    const link = { text: 'connect your account', url: linkTo(app, chatter) }
    return replyOf(system, { pieces: ['Before you can use this, ', link, '.'] })
  }
  const subject = await loadRepositorySubject(app, project, actor)
  if (!projectPolicy.read(subject)) return replyOf(system, { pieces: ['You have no access to this project.'] })
  const context = {
    app,
    actor,
    subject,
    command: input.command ?? '',
    channel: input.channel_name ?? '',
    sender,
    limiter,
  }
  return replyOf(system, await runCommand(context, parseCommand(input.text ?? '')))
}

/** False if the row was already deleted. */
export async function deleteChatName({ db }: App, { id }: ChatName, owner: User): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('chat_names')
    .where('id', '=', id)
    .where('user_id', '=', owner.id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
