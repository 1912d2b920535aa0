import { sql } from 'kysely'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { confirmedEmails } from '../../identity/emails/queries.ts'
import { CUSTOM_EVENTS, LEVELS, type CustomEvents, type NotificationLevel, type NotificationSetting } from './model.ts'

/** Exactly one of the two or, with neither, the global setting. */
export interface Source {
  readonly project_id: number | null
  readonly group_id: number | null
}

export const EVERYWHERE: Source = { project_id: null, group_id: null }

/** The setting of a user, or the defaults. */
export interface NotificationPreference {
  readonly level: NotificationLevel
  readonly events: CustomEvents
}

export const preferenceIn = (
  row: NotificationSetting | null,
  { project_id, group_id }: Source,
): NotificationPreference => ({
  level: row ? LEVELS[row.level]! : project_id === null && group_id === null ? 'participating' : 'global',
  events: { ...CUSTOM_EVENTS, ...(row && (JSON.parse(row.events) as Partial<CustomEvents>)) },
})

export async function findSetting(
  db: Db,
  user: number,
  { project_id, group_id }: Source,
): Promise<NotificationSetting | null> {
  const [found] = await settingOf(db, { user, project_id, group_id })
  return found ?? null
}

const settingOf = hotQuery((db, p: { user: number } & Source, given) =>
  db
    .selectFrom('notification_settings')
    .selectAll()
    .where('user_id', '=', p.user)
    .where('project_id', given('project_id') ? '=' : 'is', given('project_id') ? p.project_id : null)
    .where('group_id', given('group_id') ? '=' : 'is', given('group_id') ? p.group_id : null),
)

/** Only a confirmed address of the user. If the chosen one no longer is, the primary address is used. */
export async function notificationEmail(db: Db, user: User, setting: NotificationSetting | null): Promise<string> {
  const address = setting?.notification_email
  if (!address || address === user.email) return user.email
  return (await isOwnEmail(db, user, address)) ? address : user.email
}

/** The address of each user. The same rule, in two queries. */
export async function notificationEmails(db: Db, users: readonly User[]): Promise<Map<number, string>> {
  const ids = users.map(({ id }) => id)
  const [settings, own] = await Promise.all([
    db
      .selectFrom('notification_settings')
      .select(['user_id', 'notification_email'])
      .where(inIdList(db, 'user_id', idList(db, ids)))
      .where('project_id', 'is', null)
      .where('group_id', 'is', null)
      .where('notification_email', 'is not', null)
      .execute(),
    confirmedEmails(db, ids),
  ])
  const byUser = new Map(settings.map(({ user_id, notification_email }) => [user_id, notification_email!]))
  return new Map(
    users.map(({ id, email }) => {
      const address = byUser.get(id)
      return [id, address !== undefined && own.get(id)!.has(address.toLowerCase()) ? address : email]
    }),
  )
}

export const isOwnEmail = async (db: Db, { id, email }: User, address: string): Promise<boolean> =>
  address.toLowerCase() === email.toLowerCase() || (await confirmedEmails(db, [id])).get(id)!.has(address.toLowerCase())

/**
 * The setting that applies to each of these users in a project: of the project, else of the nearest group, else the
 * global one. Two queries.
 */
export async function settingsInEffect(
  db: Db,
  users: readonly number[],
  project: { readonly id: number; readonly namespace_id: number },
): Promise<Map<number, NotificationPreference>> {
  const around = await db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
    .select('n.id')
    .where('a.namespace_id', '=', project.namespace_id)
    // A nearer group has a longer path.
    .orderBy(sql`length(n.full_path)`, 'desc')
    .execute()
  const rows = await db
    .selectFrom('notification_settings')
    .selectAll()
    .where(inIdList(db, 'user_id', idList(db, users)))
    .where((eb) =>
      eb.or([
        eb('project_id', '=', project.id),
        ...(around.length > 0
          ? [
              eb(
                'group_id',
                'in',
                around.map(({ id }) => id),
              ),
            ]
          : []),
        eb.and([eb('project_id', 'is', null), eb('group_id', 'is', null)]),
      ]),
    )
    .execute()
  const byUser = Map.groupBy(rows, ({ user_id }) => user_id)
  const nearness = ({ project_id, group_id }: NotificationSetting) =>
    project_id !== null ? -1 : group_id === null ? around.length : around.findIndex(({ id }) => id === group_id)
  return new Map(
    users.map((user) => {
      const own = (byUser.get(user) ?? []).filter(({ level }) => LEVELS[level] !== 'global')
      const [nearest] = own.toSorted((a, b) => nearness(a) - nearness(b))
      return [user, preferenceIn(nearest ?? null, EVERYWHERE)]
    }),
  )
}
