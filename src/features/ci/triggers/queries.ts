import type { z } from 'zod'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { digestOf } from '../../../lib/crypto/secrets.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { ciProject } from '../pipelines/queries.ts'
import { presentTrigger, type TriggerEntity } from './entity.ts'
import type { Trigger } from './model.ts'

const triggersOf = (db: Db, project: number) =>
  db.selectFrom('pipeline_triggers').selectAll().where('project_id', '=', project)

export const listTriggers = (db: Db, project: number, page: PageRequest): Promise<Page<Trigger>> =>
  pageOfQuery(triggersOf(db, project).orderBy('id'), page)

export const trigger = child(ciProject, {
  key: 'trigger',
  params: { trigger_id: id },
  find: (app, { project }, { trigger_id }) =>
    triggersOf(app.db, project.id).where('id', '=', trigger_id).executeTakeFirst(),
})

/** Finds a trigger by its token, if the token is still valid. */
export async function findUsableTrigger({ db, clock }: App, project: number, token: string): Promise<Trigger | null> {
  const found = await triggersOf(db, project).where('token_digest', '=', digestOf(token)).executeTakeFirst()
  return found && (found.expires_at === null || found.expires_at > timestamp(clock)) ? found : null
}

export async function presentTriggers(
  app: App,
  viewer: User,
  rows: readonly Trigger[],
): Promise<z.infer<typeof TriggerEntity>[]> {
  const [loaded, around] = await Promise.all([withUsers(app.db, rows, { owner: 'owner_id' }), surroundings(app)])
  return loaded.map((one) => presentTrigger(app, one, viewer, around))
}

export const presentOneTrigger = async (app: App, viewer: User, row: Trigger) =>
  (await presentTriggers(app, viewer, [row]))[0]!
