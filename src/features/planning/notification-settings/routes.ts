import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { bool, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { columnsAt, planningScopes } from '../scopes.ts'
import { GlobalNotificationSettingEntity, NotificationSettingEntity, presentNotificationSetting } from './entity.ts'
import { CUSTOM_EVENTS, type CustomEvent, type NotificationSetting } from './model.ts'
import { EVERYWHERE, findSetting, notificationEmail, preferenceIn } from './queries.ts'
import { changeSetting } from './service.ts'

const switches = Object.fromEntries(Object.keys(CUSTOM_EVENTS).map((name) => [name, bool.nullish()])) as {
  [event in CustomEvent]: z.ZodOptional<z.ZodNullable<typeof bool>>
}
const input = z.object({ level: text.nullish(), ...switches })

const presentGlobal = async ({ db }: App, user: User, setting: NotificationSetting | null) => ({
  ...presentNotificationSetting(preferenceIn(setting, EVERYWHERE)),
  notification_email: await notificationEmail(db, user, setting),
  notified_of_own_activity: setting?.notified_of_own_activity ?? false,
})

export const getGlobal = endpoint({
  method: 'GET',
  path: '/notification_settings',
  summary: 'Get what one is told of where nothing else was said',
  allow: 'signed_in',
  output: GlobalNotificationSettingEntity,
  handle: async ({ app, viewer }) => presentGlobal(app, viewer, await findSetting(app.db, viewer.id, EVERYWHERE)),
})

export const updateGlobal = endpoint({
  method: 'PUT',
  path: '/notification_settings',
  summary: 'Update the global notification settings',
  allow: 'signed_in',
  input: input.extend({ notification_email: text.nullish(), notified_of_own_activity: bool.nullish() }),
  output: GlobalNotificationSettingEntity,
  handle: async ({ app, viewer, input }) =>
    presentGlobal(app, viewer, await changeSetting(app, viewer, EVERYWHERE, input)),
})

export const [get, getOfGroup] = atScopes(planningScopes, ({ kind, path, resource }) =>
  endpoint({
    method: 'GET',
    path: `${path}/notification_settings`,
    summary: `Get what one is told of in a ${kind}`,
    on: resource,
    allow: 'read',
    output: NotificationSettingEntity,
    async handle({ app, viewer, subject }) {
      const source = columnsAt(subject)
      return presentNotificationSetting(preferenceIn(await findSetting(app.db, viewer.id, source), source))
    },
  }),
)

export const [update, updateOfGroup] = atScopes(planningScopes, ({ kind, path, resource }) =>
  endpoint({
    method: 'PUT',
    path: `${path}/notification_settings`,
    summary: `Update the notification settings of a ${kind}`,
    on: resource,
    allow: 'read',
    whileReadOnly: true,
    input,
    output: NotificationSettingEntity,
    async handle({ app, viewer, subject, input }) {
      const source = columnsAt(subject)
      return presentNotificationSetting(preferenceIn(await changeSetting(app, viewer, source, input), source))
    },
  }),
)
