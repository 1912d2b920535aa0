import { z } from 'zod'
import { assertRules, filled, limited, rule, rulesOf } from '../../../api/rules.ts'
import { after, DAY, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { forbidden, notFound, taken } from '../../../errors.ts'
import { isWebAddress } from '../../../lib/net/web-address.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { ensureEnvironment, guessTier, isEnvironmentName } from './making.ts'
import type { Environment, Tier } from './model.ts'
import { findEnvironmentByName } from './queries.ts'

export interface EnvironmentInput {
  name?: string | undefined
  external_url?: string | null | undefined
  description?: string | null | undefined
  tier?: Tier | null | undefined
}

const NAME_FAULT =
  "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'"

const environmentRules = rulesOf({
  name: filled(z.string(), 255, { last: true }).check(rule(isEnvironmentName, NAME_FAULT)),
  external_url: limited(z.string(), 255, { last: true }).check(
    rule((url) => url === '' || isWebAddress(url), 'is blocked: Only allowed schemes are http, https'),
  ),
  description: limited(z.string(), 10_000),
})

const whileLocked = <T>(app: App, project: number, work: (app: App) => Promise<T>): Promise<T> =>
  transact(app, async (app) => {
    await lockName(app.db, `environments of project ${project}`)
    return work(app)
  })

export function createEnvironment(
  app: App,
  project: number,
  input: EnvironmentInput & { name: string },
): Promise<Environment> {
  assertRules(environmentRules, input)
  return whileLocked(app, project, async (app) => {
    if (await findEnvironmentByName(app.db, project, input.name)) throw taken('name')
    return ensureEnvironment(app, project, input.name, input)
  })
}

/** The slug never changes, because URLs contain it. */
export function updateEnvironment(app: App, environment: Environment, input: EnvironmentInput): Promise<Environment> {
  assertRules(environmentRules, input)
  const { project_id: project, id } = environment
  return whileLocked(app, project, async (app) => {
    const name = input.name ?? environment.name
    const same = await findEnvironmentByName(app.db, project, name)
    if (same && same.id !== id) throw taken('name')
    const updated = await app.db
      .updateTable('environments')
      .set({
        name,
        external_url: input.external_url === undefined ? environment.external_url : input.external_url,
        description: input.description === undefined ? environment.description : input.description,
        tier: input.tier ?? (input.tier === null ? guessTier(name) : environment.tier),
        updated_at: timestamp(app.clock),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
    if (!updated) throw notFound() // a concurrent request deleted the row
    return updated
  })
}

/** Deletes the environment with its deployments. An environment must be stopped before. */
export async function deleteEnvironment(app: App, { id }: Environment): Promise<void> {
  const { numDeletedRows } = await app.db
    .deleteFrom('environments')
    .where('id', '=', id)
    .where('state', '=', 'stopped')
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw forbidden('Environment must be stopped before it can be deleted')
}

const REVIEWED_FOR = 30 * DAY

/** Deletes review environments that have been stopped for a long time. */
export async function deleteReviewApps(
  { db, clock }: App,
  project: number,
  { before, limit, dry_run }: { before: string | null; limit: number; dry_run: boolean },
): Promise<Environment[]> {
  const found = await db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', project)
    .where('state', '=', 'stopped')
    .where('name', 'like', 'review/%')
    .where('updated_at', '<', before ?? after(clock, -REVIEWED_FOR))
    .orderBy('id')
    .limit(limit)
    .execute()
  if (!dry_run && found.length > 0) {
    const ids = found.map(({ id }) => id)
    await db.deleteFrom('environments').where('id', 'in', ids).where('state', '=', 'stopped').execute()
  }
  return found
}
