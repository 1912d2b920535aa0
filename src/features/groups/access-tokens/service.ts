import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { Master } from '../../../lib/levels.ts'
import { randomHex } from '../../../lib/crypto/secrets.ts'
import { transact } from '../../../store/transact.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { assertLevel } from '../../access/members/levels.ts'
import type { SourceColumns } from '../../access/members/model.ts'
import { addFounder, assertOpen } from '../../access/members/service.ts'
import type { SourceSubject } from '../../access/scopes.ts'
import {
  createToken,
  removeTokensOf,
  revokeToken,
  rotateToken,
  type TokenInput,
} from '../../identity/tokens/service.ts'
import { findUser } from '../../identity/users/queries.ts'
import { createUser } from '../../identity/users/service.ts'
import { deleteUser, ghostUser } from '../../identity/users/state.ts'
import type { LoadedToken } from './entity.ts'
import { isBot } from './queries.ts'

const LIVES_FOR_DAYS = 365

export interface NewResourceToken extends TokenInput {
  access_level?: number | null | undefined
}

interface Issued {
  readonly token: LoadedToken
  readonly secret: string
}

/** Creates a bot account that is a member of the group or project, and a token for it. */
export async function createResourceToken(
  app: App,
  actor: User,
  { at, level, managed }: SourceSubject,
  input: NewResourceToken,
  grantable: readonly string[],
): Promise<Issued> {
  const kind = at.group_id === null ? 'project' : 'group'
  // A token that creates tokens would outlive its own revocation.
  if (!managed || (await isBot(app.db, actor.id))) {
    throw new Refusal('bad_request', `User does not have permission to create ${kind} access token`)
  }
  const access_level = input.access_level ?? Master
  assertLevel(at, access_level)
  if (access_level > level) {
    throw new Refusal('bad_request', 'Access level of the token can not be greater than the access level of the user')
  }
  return transact(app, async (app) => {
    await assertOpen(app, at)
    const bot = await createBot(app, at, kind, input.name)
    await addFounder(app, at, bot.id, { access_level, since: timestamp(app.clock) })
    await refreshAuthorizations(app, {
      users: [bot.id],
      ...(at.group_id === null ? { project: at.project_id! } : { group: at.group_id }),
    })
    const { token, secret } = await createToken(app, bot, 'personal', input, grantable, LIVES_FOR_DAYS)
    return { token: { ...token, access_level }, secret }
  })
}

/** External, so that the bot can access only public projects and the ones it is a member of. */
async function createBot(app: App, at: SourceColumns, kind: 'project' | 'group', name: string): Promise<User> {
  const username = `${kind}_${at.group_id ?? at.project_id}_bot_${randomHex(16)}`
  const email = `${username}@noreply.invalid`
  const bot = await createUser(app, { username, email, name, external: true, skip_confirmation: true })
  await removeTokensOf(app, bot)
  await app.db
    .insertInto('resource_bots')
    .values({ user_id: bot.id, group_id: at.group_id, project_id: at.project_id })
    .execute()
  return bot
}

/**
 * The bot is deleted with its token; its contributions stay. A bot that revokes its own token only revokes the token.
 */
export async function revokeResourceToken(app: App, actor: User, token: LoadedToken): Promise<void> {
  const bot = actor.id === token.user_id ? null : await findUser(app.db, token.user_id)
  if (bot) await deleteUser(app, actor, bot, { hard: false })
  else await revokeToken(app, token)
}

export async function rotateResourceToken(
  app: App,
  token: LoadedToken,
  expiresAt: string | null | undefined,
): Promise<Issued> {
  const { access_level, ...old } = token
  const rotated = await rotateToken(app, old, expiresAt)
  return { token: { ...rotated.token, access_level }, secret: rotated.secret }
}

/** Deletes the bots of a deleted group or project. Its row may still exist for a while, or be deleted already. */
export async function removeBotsOf(app: App, gone: { group_id: number } | { project_id: number }): Promise<void> {
  const [[column, id]] = Object.entries(gone) as [['group_id' | 'project_id', number]]
  const left = await app.db
    .selectFrom('resource_bots')
    .select('user_id')
    .where((eb) => eb.or([eb(column, '=', id), eb.and([eb('group_id', 'is', null), eb('project_id', 'is', null)])]))
    .execute()
  for (const { user_id } of left) {
    const bot = await findUser(app.db, user_id)
    if (bot) await transact(app, async (app) => deleteUser(app, await ghostUser(app), bot, { hard: false }))
  }
}
