/** Links chat users to accounts. Users confirm the link on a web page; a short-lived URL in the chat leads to it. */
import { MINUTE, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { sameSecret } from '../../../lib/crypto/secrets.ts'
import { isOrphan } from '../../../store/dialect.ts'
import { findUser } from '../../identity/users/queries.ts'

/** A chat user, as the chat service describes them. */
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

/** Only the chat user who gets the reply sees this link. */
export function linkTo(app: App, chatter: Chatter): string {
  const until = app.clock.now().getTime() + GOOD_FOR
  const text = Buffer.from(JSON.stringify({ ...chatter, until })).toString('base64url')
  return `${app.url}${PAGE}?${new URLSearchParams({ token: `${text}.${app.vault.sign(PURPOSE, text)}` })}`
}

/** Null if the token is not signed by this server or has expired. */
export function chatterOf(app: App, token: string): Chatter | null {
  const [text = '', proof = ''] = token.split('.')
  if (!sameSecret(proof, app.vault.sign(PURPOSE, text))) return null
  const { until, ...chatter } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Chatter & {
    until: number
  }
  return until > app.clock.now().getTime() ? chatter : null
}

/** Replaces an earlier link of the same chat user. False: the service no longer exists. */
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

/** Null if the chat user has no linked account, or the account may not sign in. */
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
