/**
 * The recipients of a notification, each with a reason. The number of queries does not depend on the number of
 * recipients.
 */
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { isReachable } from '../../access/members/on.ts'
import type { ItemColumn } from '../../planning/items/kind.ts'
import type { CustomEvent } from '../../planning/notification-settings/model.ts'
import { EVERYWHERE, findSetting, settingsInEffect } from '../../planning/notification-settings/queries.ts'
import { subscribersOf } from '../../planning/subscriptions/queries.ts'
import type { Project } from '../../projects/projects/queries.ts'
import type { Item } from './items.ts'
import { WATCHING, isNotified, strongest, type Reason, type Way } from './levels.ts'

export interface Reached {
  readonly ids: readonly number[]
  readonly way: Way
  readonly reason: Reason
  /** The custom event that enables it. */
  readonly event: CustomEvent | null
}

export interface Reach {
  readonly reached: readonly Reached[]
  /** Custom events for users who watch the project. Empty: watchers get no mail. */
  readonly watched: readonly (CustomEvent | null)[]
  /** Labels that were added. */
  readonly labels?: readonly number[]
  /** The user who caused it. */
  readonly by: number | null
  /** Only for users who may see internal notes. */
  readonly internal?: boolean
  /** Users who already get a mail about it for another reason. */
  readonly except?: readonly number[]
  /** False: subscribers of the item get no mail. */
  readonly forSubscribers?: boolean
}

export async function recipientsOf(app: App, item: Item, reach: Reach): Promise<Map<number, Reason>> {
  const { db } = app
  const { project } = item
  const [following, subscriptions, labelled, hearsSelf] = await Promise.all([
    reach.watched.length > 0 ? followersOf(db, project) : [],
    subscriptionsTo(db, item),
    labelSubscribers(db, project, reach.labels ?? []),
    reach.by === null ? false : wantsOwnActivity(db, reach.by),
  ])
  const all: Reached[] = [
    ...reach.reached,
    ...reach.watched.map((event) => ({ ids: following, way: 'watch' as const, reason: 'watching' as const, event })),
    {
      ids: [...((reach.forSubscribers ?? true) ? subscriptions.yes : []), ...labelled],
      way: 'subscription',
      reason: 'subscribed',
      event: null,
    },
  ]
  const except = new Set(reach.except)
  const isLeftOut = (id: number) => subscriptions.no.has(id) || except.has(id) || (id === reach.by && !hearsSelf)
  const candidates = [...new Set(all.flatMap(({ ids }) => ids))].filter((id) => !isLeftOut(id))
  if (candidates.length === 0) return new Map()
  const settings = await settingsInEffect(db, candidates, project)
  const reasons = new Map<number, Reason[]>()
  for (const { ids, way, reason, event } of all)
    for (const id of new Set(ids)) {
      const setting = settings.get(id)
      if (isLeftOut(id) || !setting || !isNotified(setting, way, event)) continue
      reasons.set(id, [...(reasons.get(id) ?? []), id === reach.by ? 'own_activity' : reason])
    }
  const readers = await mailable(app, item, [...reasons.keys()], reach.internal ?? false)
  return new Map(readers.map(({ id }) => [id, strongest(reasons.get(id)!)]))
}

/**
 * Of these users, those who may read the item and have a mail address. The check is repeated before the mail is sent.
 */
export async function mailable(app: App, item: Item, ids: readonly number[], internal: boolean): Promise<User[]> {
  if (ids.length === 0) return []
  const { db } = app
  const readers = (await item.readers(app, ids, { internal })).filter(isReachable)
  const found = await db
    .selectFrom('resource_bots')
    .select('user_id')
    .where(inIdList(db, 'user_id', idList(db, ids)))
    .execute()
  const bots = new Set(found.map(({ user_id }) => user_id))
  return readers.filter(({ id }) => !bots.has(id))
}

async function wantsOwnActivity(db: Db, user: number): Promise<boolean> {
  return (await findSetting(db, user, EVERYWHERE))?.notified_of_own_activity ?? false
}

/** Explicit subscriptions to the item, and explicit refusals. */
export async function subscriptionsTo(db: Db, { subscription }: Item): Promise<{ yes: number[]; no: Set<number> }> {
  if (!subscription) return { yes: [], no: new Set() }
  const [kind, id] = Object.entries(subscription)[0] as [ItemColumn, number]
  const subscriptions = (await subscribersOf(db, kind, [id])).get(id) ?? []
  return {
    yes: subscriptions.filter(({ subscribed }) => subscribed).map(({ user_id }) => user_id),
    no: new Set(subscriptions.filter(({ subscribed }) => !subscribed).map(({ user_id }) => user_id)),
  }
}

async function labelSubscribers(db: Db, { id }: Project, labels: readonly number[]): Promise<number[]> {
  const subscriptions = [...(await subscribersOf(db, 'label_id', labels)).values()].flat()
  return subscriptions
    .filter(({ subscribed, project_id }) => subscribed && (project_id === null || project_id === id))
    .map(({ user_id }) => user_id)
}

/** Users who may watch the project. The caller then loads the setting that applies to each. */
async function followersOf(db: Db, { id, namespace_id }: Project): Promise<number[]> {
  const rows = await following(db, { id, namespace_id })
  return [...new Set(rows.map(({ user_id }) => user_id))]
}

const following = hotQuery((db, p: { id: number; namespace_id: number }) => {
  const watching = () =>
    db.selectFrom('notification_settings as s').select('s.user_id').where('s.level', 'in', WATCHING)
  return watching()
    .where('s.project_id', '=', p.id)
    .unionAll(
      watching().where('s.group_id', 'in', (eb) =>
        eb.selectFrom('namespace_ancestors').select('ancestor_id').where('namespace_id', '=', p.namespace_id),
      ),
    )
    .unionAll(
      watching()
        .where('s.project_id', 'is', null)
        .where('s.group_id', 'is', null)
        .where('s.user_id', 'in', (eb) =>
          eb.selectFrom('project_authorizations').select('user_id').where('project_id', '=', p.id),
        ),
    )
})
