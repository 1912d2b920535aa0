import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, invalid, notFound } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { unlessOrphan } from '../../../store/violations.ts'
import { CUSTOM_EVENTS, LEVELS, type CustomEvent, type NotificationLevel, type NotificationSetting } from './model.ts'
import { findSetting, isOwnEmail, preferenceIn, type Source } from './queries.ts'

export type SettingInput = { [event in CustomEvent]?: boolean | null | undefined } & {
  level?: string | null | undefined
  notification_email?: string | null | undefined
  notified_of_own_activity?: boolean | null | undefined
}

/** The global setting cannot have the level `global`. */
function levelNumber(level: string, { project_id, group_id }: Source): number {
  const number = LEVELS.indexOf(level as NotificationLevel)
  const isKnown = number >= 0 && (level !== 'global' || project_id !== null || group_id !== null)
  if (!isKnown) throw new Refusal('bad_request', `'${level}' is not a valid level`)
  return number
}

/** Absent fields stay unchanged. */
export async function changeSetting(
  app: App,
  actor: User,
  source: Source,
  input: SettingInput,
): Promise<NotificationSetting> {
  const { level, notification_email } = input
  const newLevel = level ? levelNumber(level, source) : undefined
  if (notification_email && !(await isOwnEmail(app.db, actor, notification_email)))
    throw invalid({ notification_email: ['is not an email you own'] })
  const changed = transact(app, async (app) => {
    await lockName(app.db, `notifications ${actor.id} ${source.project_id} ${source.group_id}`)
    const was = await findSetting(app.db, actor.id, source)
    const now = timestamp(app.clock)
    const customEvents = Object.keys(CUSTOM_EVENTS).flatMap((name) => {
      const value = input[name as CustomEvent]
      return typeof value === 'boolean' ? [[name, value] as const] : []
    })
    const is = {
      level: newLevel ?? was?.level ?? LEVELS.indexOf(preferenceIn(null, source).level),
      notification_email: notification_email ?? was?.notification_email ?? null,
      notified_of_own_activity: input.notified_of_own_activity ?? was?.notified_of_own_activity ?? false,
      events: JSON.stringify({ ...(was && JSON.parse(was.events)), ...Object.fromEntries(customEvents) }),
      updated_at: now,
    }
    const stored = was
      ? app.db.updateTable('notification_settings').set(is).where('id', '=', was.id)
      : app.db.insertInto('notification_settings').values({ ...is, user_id: actor.id, ...source, created_at: now })
    return stored.returningAll().executeTakeFirstOrThrow()
  })
  return unlessOrphan(changed, notFound)
}
