/**
 * Who must have a second factor: all users if the instance requires it, and members of groups that require it. A user
 * without one gets a grace period that starts when they are first told. After it, their sessions can open only the
 * setup page; tokens keep working.
 */
import { HOUR, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { hotQuery } from '../../../store/hot.ts'
import { settingsAtHand } from '../../instance/settings/queries.ts'

export interface Requirement {
  /** The path of the group; null if the whole instance requires it. */
  readonly group: string | null
  readonly until: string
}

interface Demand {
  readonly group: string | null
  readonly hours: number
}

/** A group of the user, or an ancestor of it, that requires a second factor; the one with the shortest grace period. */
const demandingGroup = hotQuery((db, p: { user: number }) =>
  db
    .selectFrom('members')
    .innerJoin('namespaces as own', 'own.id', 'members.group_id')
    .innerJoin('namespace_ancestors', 'namespace_ancestors.namespace_id', 'members.group_id')
    .innerJoin('namespaces', 'namespaces.id', 'namespace_ancestors.ancestor_id')
    .select(['namespaces.full_path as group', 'namespaces.two_factor_grace_period as hours'])
    .where('members.user_id', '=', p.user)
    .where('namespaces.require_two_factor_authentication', '=', true)
    .where('own.deleting', '=', false)
    .orderBy('namespaces.two_factor_grace_period')
    .orderBy('namespaces.id')
    .limit(1),
)

/** Null if the user has a second factor, needs none, or has no password here that it could complement. */
export function dueSecondFactor(app: App, user: User): MaybePromise<Requirement | null> {
  if (user.two_factor_enabled || user.password_digest === null) return null
  return andThen(settingsAtHand(app), (settings) =>
    andThen(demandingGroup(app.db, { user: user.id }), ([group]) => {
      const instance = settings.require_two_factor_authentication
        ? { group: null, hours: settings.two_factor_grace_period }
        : null
      const demand = instance && (!group || instance.hours <= group.hours) ? instance : (group ?? null)
      return (
        demand && andThen(requiredSince(app, user), (since) => ({ group: demand.group, until: end(since, demand) }))
      )
    }),
  )
}

const end = (since: string, { hours }: Demand) => new Date(Date.parse(since) + hours * HOUR).toISOString()

export const isOverdue = ({ clock }: App, { until }: Requirement): boolean => until <= timestamp(clock)

function requiredSince(app: App, { id, second_factor_asked_at: known }: User): MaybePromise<string> {
  if (known !== null) return known
  const now = timestamp(app.clock)
  if (app.config.readOnly) return now
  const saved = app.db
    .updateTable('users')
    .set({ second_factor_asked_at: now })
    .where('id', '=', id)
    .where('second_factor_asked_at', 'is', null)
    .execute()
  return saved.then(() => now)
}
