/** Unsubscribe links work without signing in. The content of a link is signed, and allows nothing else. */
import { z } from 'zod'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { sameSecret } from '../../../lib/crypto/secrets.ts'
import { findUser } from '../../identity/users/queries.ts'
import { LEVELS, type NotificationLevel } from '../../planning/notification-settings/model.ts'
import { settingsInEffect } from '../../planning/notification-settings/queries.ts'
import { changeSetting } from '../../planning/notification-settings/service.ts'
import { setSubscription } from '../../planning/subscriptions/service.ts'
import { findItem, type Item } from './items.ts'
import { levelBelow, type Reason } from './levels.ts'
import * as t from './texts.ts'

const PURPOSE = 'unsubscribe'

/** Only ids: names may change during the life of a link. */
const Options = z.object({
  user: z.int(),
  project: z.int(),
  issue: z.int().optional(),
  merge_request: z.int().optional(),
  level: z.enum(LEVELS).optional(),
})
type Options = z.infer<typeof Options>

export function unsubscribeAddress(
  app: App,
  { subscription, project }: Item,
  { user, reason }: { user: User; reason: Reason },
): { address: string; ends: string } {
  const at = { user: user.id, project: project.id }
  const input: Options =
    subscription === null
      ? { ...at, level: levelBelow(reason) }
      : 'issue_id' in subscription
        ? { ...at, issue: subscription.issue_id }
        : { ...at, merge_request: subscription.merge_request_id }
  const text = Buffer.from(JSON.stringify(input)).toString('base64url')
  const ends = t.unsubscribeFrom[input.issue ? 'issue' : input.merge_request ? 'merge_request' : 'project']
  return { address: `${app.url}/-/unsubscribe/${text}.${app.vault.sign(PURPOSE, text)}`, ends }
}

function read(app: App, token: string): Options | null {
  const [text = '', sign = '', ...more] = token.split('.')
  if (more.length > 0 || !sameSecret(sign, app.vault.sign(PURPOSE, text))) return null
  return Options.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
}

export interface Unsubscription {
  readonly user: User
  /** The name on the page. It shows nothing that the link does not reveal already. */
  readonly what: string
  carryOut(): Promise<void>
}

/** Null if the token is not signed by this server, or the item no longer exists. */
export async function findUnsubscription(app: App, token: string): Promise<Unsubscription | null> {
  const input = read(app, token)
  const user = input && (await findUser(app.db, input.user))
  const { issue, merge_request } = input ?? {}
  const facts = { ...(issue && { issue }), ...(merge_request && { merge_request }) }
  const item = user && (await findItem(app, facts, input.project))
  if (!item) return null
  const level = input.level
  if (level !== undefined)
    return { user, what: t.thisProjectUnlessItConcernsYou, carryOut: () => lower(app, user, item, level) }
  const what = issue === undefined ? t.thisMergeRequest : t.thisIssue
  return { user, what, carryOut: () => leave(app, user, item) }
}

/** No error where the user has already unsubscribed. */
async function leave(app: App, user: User, { subscription }: Item): Promise<void> {
  try {
    await setSubscription(app, user, subscription!, false, { usual: true })
  } catch (error) {
    if (!(error instanceof Refusal && error.kind === 'not_modified')) throw error
  }
}

/** Never raises the level where the user has lowered it further since. */
async function lower(app: App, user: User, { project }: Item, level: NotificationLevel): Promise<void> {
  const now = (await settingsInEffect(app.db, [user.id], project)).get(user.id)!.level
  if (LOUDNESS.indexOf(now) <= LOUDNESS.indexOf(level)) return
  await changeSetting(app, user, { project_id: project.id, group_id: null }, { level })
}

const LOUDNESS: readonly NotificationLevel[] = ['disabled', 'mention', 'participating', 'custom', 'watch']
