import { after, DAY, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { forbidden, invalid, notFound, type FieldErrors } from '../../../errors.ts'
import { isWebAddress } from '../../../lib/net/web-address.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { ensureEnvironment, guessTier, isEnvironmentName } from './making.ts'
import type { Environment, Tier } from './model.ts'
import { findEnvironmentByName } from './queries.ts'

const LONGEST_URL = 255
const LONGEST_DESCRIPTION = 10_000

export interface EnvironmentInput {
  name?: string | undefined
  external_url?: string | null | undefined
  description?: string | null | undefined
  tier?: Tier | null | undefined
}

const NAME_FAULT =
  "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'"

function assertValid({ name, external_url: url, description }: EnvironmentInput): void {
  const faults: FieldErrors = {}
  if (name !== undefined && !isEnvironmentName(name)) {
    faults.name = [
      name.trim() === ''
        ? "can't be blank"
        : name.length > 255
          ? 'is too long (maximum is 255 characters)'
          : NAME_FAULT,
    ]
  }
  if (url && !isWebAddress(url)) faults.external_url = ['is blocked: Only allowed schemes are http, https']
  if (url && url.length > LONGEST_URL) faults.external_url = [`is too long (maximum is ${LONGEST_URL} characters)`]
  if (description && description.length > LONGEST_DESCRIPTION) {
    faults.description = [`is too long (maximum is ${LONGEST_DESCRIPTION} characters)`]
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

const duringRequiredStep = <T>(app: App, project: number, work: (app: App) => Promise<T>): Promise<T> =>
  transact(app, async (app) => {
    await lockName(app.db, `environments of project ${project}`)
    return work(app)
  })

const taken = () => invalid({ name: ['has already been taken'] })

export function createEnvironment(
  app: App,
  project: number,
  input: EnvironmentInput & { name: string },
): Promise<Environment> {
  assertValid(input)
  return duringRequiredStep(app, project, async (app) => {
    if (await findEnvironmentByName(app.db, project, input.name)) throw taken()
    return ensureEnvironment(app, project, input.name, input)
  })
}

/** The slug never changes, because URLs contain it. */
export function updateEnvironment(app: App, environment: Environment, input: EnvironmentInput): Promise<Environment> {
  assertValid(input)
  const { project_id: project, id } = environment
  return duringRequiredStep(app, project, async (app) => {
    const name = input.name ?? environment.name
    const same = await findEnvironmentByName(app.db, project, name)
    if (same && same.id !== id) throw taken()
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
