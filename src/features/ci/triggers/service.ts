import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { assertBelowLimit, invalid, notFound } from '../../../errors.ts'
import { digestOf, randomHex } from '../../../lib/crypto/secrets.ts'
import type { RowChange } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import type { Trigger } from './model.ts'

const MOST_TRIGGERS = 150
const TOKEN_BYTES = 15

export interface TriggerInput {
  description: string
  expires_at?: string | null | undefined
}

export function newTriggerToken({ vault }: App): { token_digest: string; token_sealed: string } {
  const token = randomHex(TOKEN_BYTES)
  return { token_digest: digestOf(token), token_sealed: vault.seal(token) }
}

export async function createTrigger(app: App, actor: User, project_id: number, input: TriggerInput): Promise<Trigger> {
  const now = timestamp(app.clock)
  if (input.expires_at && input.expires_at <= now) throw invalid({ expires_at: ['must be in the future'] })
  return transact(app, async (app) => {
    await lockName(app.db, `triggers of project ${project_id}`)
    const { total } = await app.db
      .selectFrom('pipeline_triggers')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where('project_id', '=', project_id)
      .executeTakeFirstOrThrow()
    assertBelowLimit(Number(total), MOST_TRIGGERS, 'pipeline triggers')
    return app.db
      .insertInto('pipeline_triggers')
      .values({
        project_id,
        owner_id: actor.id,
        ...newTriggerToken(app),
        description: input.description,
        expires_at: input.expires_at ?? null,
        last_used_at: null,
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

async function change(app: App, { id }: Trigger, changes: RowChange<'pipeline_triggers'>): Promise<Trigger> {
  const updated = await app.db
    .updateTable('pipeline_triggers')
    .set({ ...changes, updated_at: timestamp(app.clock) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (!updated) throw notFound() // a concurrent request deleted the row
  return updated
}

export async function updateTrigger(
  app: App,
  trigger: Trigger,
  { description }: { description?: string | undefined },
): Promise<Trigger> {
  return description === undefined ? trigger : change(app, trigger, { description })
}

/** The token stays the same. Pipelines that it starts run as the new owner. */
export const ownTrigger = (app: App, actor: User, trigger: Trigger): Promise<Trigger> =>
  change(app, trigger, { owner_id: actor.id })

export async function deleteTrigger(app: App, { id }: Trigger): Promise<void> {
  const { numDeletedRows } = await app.db.deleteFrom('pipeline_triggers').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound() // a concurrent request deleted the row
}
