/** Who somebody of a chat is here. They say so themselves, on a page of ours that a short-lived link leads to. */
import { MINUTE, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { sameSecret } from '../../../lib/secrets.ts'
import { isOrphan } from '../../../store/dialect.ts'
import { findUser } from '../../identity/users/queries.ts'

/** Somebody of a chat, as the chat tells. */
export interface Chatter {
  readonly service_id: number
  readonly team_id: string
  readonly team_domain: string | null
  readonly chat_id: string
  readonly chat_name: string | null
}

const GOOD_FOR = 10 * MINUTE
export const PAGE = '/-/profile/chat_names/new'
const PURPOSE = 'chat name'

/** Only who reads the answer in the chat has it. */
export function linkTo(app: App, chatter: Chatter): string {
  const until = app.clock.now().getTime() + GOOD_FOR
  const text = Buffer.from(JSON.stringify({ ...chatter, until })).toString('base64url')
  return `${app.url}${PAGE}?${new URLSearchParams({ token: `${text}.${app.vault.sign(PURPOSE, text)}` })}`
}

/** Null: not ours, or too old. */
export function chatterOf(app: App, token: string): Chatter | null {
  const [text = '', proof = ''] = token.split('.')
  if (!sameSecret(proof, app.vault.sign(PURPOSE, text))) return null
  const { until, ...chatter } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Chatter & {
    until: number
  }
  return until > app.clock.now().getTime() ? chatter : null
}

/** Whoever was there before is no longer meant. Null: the service is gone. */
export async function authorizeChatter(app: App, actor: User, chatter: Chatter): Promise<boolean> {
  const row = { ...chatter, user_id: actor.id, created_at: timestamp(app.clock), last_used_at: null }
  try {
    await app.db
      .insertInto('chat_names')
      .values(row)
      .onConflict((c) => c.columns(['service_id', 'team_id', 'chat_id']).doUpdateSet(row))
      .execute()
    return true
  } catch (error) {
    if (isOrphan(error)) return false
    throw error
  }
}

/** Null: nobody yet, or one who may not come in. */
export async function userOf(app: App, { service_id, team_id, chat_id }: Chatter): Promise<User | null> {
  const known = await app.db
    .updateTable('chat_names')
    .set({ last_used_at: timestamp(app.clock) })
    .where('service_id', '=', service_id)
    .where('team_id', '=', team_id)
    .where('chat_id', '=', chat_id)
    .returning('user_id')
    .executeTakeFirst()
  const user = known && (await findUser(app.db, known.user_id))
  return user?.state === 'active' ? user : null
}
