/**
 * Applications that users register themselves (`user_oauth_applications`). Existing ones keep working while the setting
 * is off.
 */
import { assertRules } from '../../../api/rules.ts'
import type { App, User } from '../../../context.ts'
import { conflict, forbidden } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { Application } from '../oauth/queries.ts'
import { changeApplication, createApplication, renewSecret, type WithSecret } from '../oauth/service.ts'
import { applicationRules, type NewApplication } from '../oauth/validation.ts'
import { countOwnApplications } from './queries.ts'

const MOST = 100

async function assertSwitchedOn(app: App): Promise<void> {
  const { user_oauth_applications: isOn } = await currentSettings(app)
  if (!isOn) throw forbidden('Users may not register applications here')
}

export async function registerApplication(app: App, owner: User, input: NewApplication): Promise<WithSecret> {
  await assertSwitchedOn(app)
  assertRules(applicationRules, input)
  return transact(app, async (app) => {
    await lockName(app.db, `applications ${owner.id}`)
    if ((await countOwnApplications(app.db, owner)) >= MOST) throw conflict(`There are ${MOST} applications already`)
    return createApplication(app, input, owner)
  })
}

export async function changeOwnApplication(
  app: App,
  application: Application,
  input: Parameters<typeof changeApplication>[2],
): Promise<Application> {
  await assertSwitchedOn(app)
  return changeApplication(app, application, input)
}

export async function renewOwnSecret(app: App, application: Application): Promise<WithSecret> {
  await assertSwitchedOn(app)
  return renewSecret(app, application)
}
