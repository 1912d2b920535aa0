import { after, HOUR, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { assertBelowLimit, forbidden, invalid, type FieldErrors } from '../../../errors.ts'
import { digestOf, randomToken } from '../../../lib/crypto/secrets.ts'
import { tooLong } from '../../../lib/text/faults.ts'
import type { RowChange } from '../../../store/database.ts'
import { transact } from '../../../store/transact.ts'
import { loadLimits } from '../../instance/plan-limits/queries.ts'
import { announceWaitingJobs } from '../jobs/waiting.ts'
import type { Runner, RUNNER_ACCESS_LEVELS } from './model.ts'

/** The token prefix of runners that a user has created in advance. They need no registration. */
export const MADE_PREFIX = 'glrt-'
const LONGEST = { description: 1024, maintenance_note: 1024, tag: 255 }
const MOST_TAGS = 50
const SHORTEST_TIMEOUT = 600

export interface RunnerInput {
  description?: string | null | undefined
  maintenance_note?: string | null | undefined
  active?: boolean | null | undefined
  paused?: boolean | null | undefined
  tag_list?: readonly string[] | null | undefined
  run_untagged?: boolean | null | undefined
  locked?: boolean | null | undefined
  access_level?: (typeof RUNNER_ACCESS_LEVELS)[number] | null | undefined
  maximum_timeout?: number | null | undefined
}

/** The scope whose jobs the runner takes. */
export type RunnerScope =
  | { readonly runner_type: 'instance_type' }
  | { readonly runner_type: 'group_type'; readonly group_id: number }
  | { readonly runner_type: 'project_type'; readonly project_id: number }

export interface NewRunner {
  readonly runner: Runner
  readonly token: string
}

const tagsIn = (list: readonly string[]) => [...new Set(list.map((tag) => tag.trim()).filter(Boolean))]

function columnsOf(input: RunnerInput): RowChange<'runners'> {
  const { description, maintenance_note, tag_list, run_untagged, locked, access_level } = input
  const active = input.paused === null || input.paused === undefined ? input.active : !input.paused
  return {
    ...(description !== undefined && { description }),
    ...(maintenance_note !== undefined && { maintenance_note }),
    ...(active !== undefined && active !== null && { active }),
    ...(tag_list && { tags: JSON.stringify(tagsIn(tag_list)) }),
    ...(run_untagged !== undefined && run_untagged !== null && { run_untagged }),
    ...(locked !== undefined && locked !== null && { locked }),
    ...(access_level && { access_level }),
    ...(input.maximum_timeout !== undefined && { maximum_timeout: input.maximum_timeout || null }),
  }
}

function assertValid(runner: Pick<Runner, 'tags' | 'run_untagged'> & RunnerInput): void {
  const tags = JSON.parse(runner.tags) as string[]
  const faults: FieldErrors = {}
  for (const name of ['description', 'maintenance_note'] as const) {
    if ((runner[name] ?? '').length > LONGEST[name]) faults[name] = [tooLong(LONGEST[name])]
  }
  if (tags.length === 0 && !runner.run_untagged)
    faults.tags_list = ['can not be empty when runner is not allowed to pick untagged jobs']
  if (tags.length > MOST_TAGS)
    faults.tags_list = [`Too many tags specified. Please limit the number of tags to ${MOST_TAGS}`]
  if (tags.some((tag) => tag.length > LONGEST.tag)) faults.tags_list = [tooLong(LONGEST.tag)]
  const timeout = runner.maximum_timeout
  if (timeout !== null && timeout !== undefined && (timeout < SHORTEST_TIMEOUT || timeout > 2 ** 31 - 1))
    faults.maximum_timeout = ['needs to be at least 10 minutes']
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

const MOST_KINDS = { group_type: 'ci_registered_group_runners', project_type: 'ci_registered_project_runners' } as const

/** `prefix` tells agents whether a user created the runner in advance. */
export function createRunner(
  app: App,
  scope: RunnerScope,
  input: RunnerInput,
  { creator_id = null, prefix = '' }: { creator_id?: number | null; prefix?: string } = {},
): Promise<NewRunner> {
  const token = prefix + randomToken()
  const now = timestamp(app.clock)
  const shared = scope.runner_type === 'instance_type'
  const values = {
    runner_type: scope.runner_type,
    token_digest: digestOf(token),
    token_sealed: app.vault.seal(token),
    token_expires_at: null,
    description: null,
    maintenance_note: null,
    active: true,
    run_untagged: true,
    locked: false,
    access_level: 'not_protected' as const,
    tags: '[]',
    maximum_timeout: null,
    ...columnsOf(input),
    // Agents always request `locked`, but a shared runner has no project to be locked to.
    ...(shared && { locked: false }),
    creator_id,
    name: null,
    version_name: null,
    revision: null,
    platform: null,
    architecture: null,
    ip_address: null,
    contacted_at: null,
    created_at: now,
    updated_at: now,
  }
  assertValid(values)
  return transact(app, async (app) => {
    await assertRunnerAllowed(app, scope)
    const runner = await app.db.insertInto('runners').values(values).returningAll().executeTakeFirstOrThrow()
    if (scope.runner_type === 'group_type')
      await app.db.insertInto('runner_groups').values({ runner_id: runner.id, group_id: scope.group_id }).execute()
    if (scope.runner_type === 'project_type')
      await app.db
        .insertInto('runner_projects')
        .values({ runner_id: runner.id, project_id: scope.project_id })
        .execute()
    return { runner, token }
  })
}

async function assertRunnerAllowed(app: App, scope: RunnerScope): Promise<void> {
  if (scope.runner_type === 'instance_type') return
  const limit = (await loadLimits(app.db))[MOST_KINDS[scope.runner_type]]
  if (limit === 0) return
  const there =
    scope.runner_type === 'group_type'
      ? await app.db
          .selectFrom('runner_groups')
          .select('runner_id')
          .where('group_id', '=', scope.group_id)
          .limit(limit)
          .execute()
      : await app.db
          .selectFrom('runner_projects')
          .select('runner_id')
          .where('project_id', '=', scope.project_id)
          .limit(limit)
          .execute()
  assertBelowLimit(there.length, limit, 'ci registered runners')
}

export function updateRunner(app: App, runner: Runner, input: RunnerInput): Promise<Runner> {
  const changes = columnsOf(input)
  assertValid({ ...runner, ...changes })
  return transact(app, async (app) => {
    await announceWaitingJobs(app)
    return app.db
      .updateTable('runners')
      .set({ ...changes, updated_at: timestamp(app.clock) })
      .where('id', '=', runner.id)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

/** Its running jobs continue. They end by themselves, or the sweep for stuck jobs ends them. */
export async function deleteRunner({ db }: App, { id }: Pick<Runner, 'id'>): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('runners').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

export async function resetRunnerToken(
  app: App,
  runner: Runner,
): Promise<{ token: string; token_expires_at: string | null }> {
  const prefix = app.vault.open(runner.token_sealed).startsWith(MADE_PREFIX) ? MADE_PREFIX : ''
  const token = prefix + randomToken()
  await app.db
    .updateTable('runners')
    .set({ token_digest: digestOf(token), token_sealed: app.vault.seal(token), updated_at: timestamp(app.clock) })
    .where('id', '=', runner.id)
    .execute()
  return { token, token_expires_at: runner.token_expires_at }
}

/** A position after all projects of the runner. */
async function nextPosition({ db }: App, { id }: Runner): Promise<number> {
  const { last } = await db
    .selectFrom('runner_projects')
    .select((eb) => eb.fn.max('place').as('last'))
    .where('runner_id', '=', id)
    .executeTakeFirstOrThrow()
  return (last ?? 0) + 1
}

/** False: the runner was enabled already. */
export function enableRunner(app: App, runner: Runner, project_id: number): Promise<boolean> {
  return transact(app, async (app) => {
    const { numInsertedOrUpdatedRows } = await app.db
      .insertInto('runner_projects')
      .values({ runner_id: runner.id, project_id, place: await nextPosition(app, runner) })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (!numInsertedOrUpdatedRows) return false
    await announceWaitingJobs(app)
    return true
  })
}

export async function disableRunner(app: App, runner: Runner, project_id: number): Promise<boolean> {
  return transact(app, async ({ db }) => {
    const of = await db.selectFrom('runner_projects').select('project_id').where('runner_id', '=', runner.id).execute()
    if (!of.some((one) => one.project_id === project_id)) return false
    if (of.length === 1)
      throw forbidden('Only one project associated with the runner. Please remove the runner instead')
    const { numDeletedRows } = await db
      .deleteFrom('runner_projects')
      .where('runner_id', '=', runner.id)
      .where('project_id', '=', project_id)
      .executeTakeFirst()
    return numDeletedRows > 0n
  })
}

/** Facts that an agent reports about itself. */
export interface ManagerFacts {
  readonly system_id?: string | null | undefined
  readonly info?:
    | {
        readonly name?: string | null | undefined
        readonly version?: string | null | undefined
        readonly revision?: string | null | undefined
        readonly platform?: string | null | undefined
        readonly architecture?: string | null | undefined
        readonly executor?: string | null | undefined
        readonly features?: Readonly<Record<string, boolean>> | null | undefined
      }
    | null
    | undefined
  readonly address: string
}

/** Fresh enough for a page, without a write for every request. */
const CONTACT_EVERY = HOUR / 60
const MOST_MANAGERS = 1000
const SHORT = 255
const cut = (value: string | null | undefined) => value?.slice(0, SHORT) ?? null

const columnsIn = ({ info, address }: ManagerFacts) => ({
  ...(info && {
    version_name: cut(info.version),
    revision: cut(info.revision),
    platform: cut(info.platform),
    architecture: cut(info.architecture),
  }),
  ip_address: cut(address),
})

/**
 * Stores the facts of a registration. A registration does not count as contact, because the agent has requested nothing
 * yet.
 */
export async function noteRegistered({ db }: App, { id }: Runner, facts: ManagerFacts): Promise<void> {
  const { info } = facts
  await db
    .updateTable('runners')
    .set({ ...columnsIn(facts), ...(info && { name: cut(info.name) }) })
    .where('id', '=', id)
    .execute()
}

/** Returns the manager that sends the request, if the request names one. */
export async function noteContact(app: App, runner: Runner, facts: ManagerFacts): Promise<number | null> {
  const { info } = facts
  const reported = { ...columnsIn(facts), contacted_at: timestamp(app.clock) }
  const due = after(app.clock, -CONTACT_EVERY)
  if (runner.contacted_at === null || runner.contacted_at < due || isChanged(runner, reported)) {
    await app.db
      .updateTable('runners')
      .set({ ...reported, ...(info && { name: cut(info.name) }) })
      .where('id', '=', runner.id)
      .execute()
  }
  return facts.system_id ? noteManager(app, runner, cut(facts.system_id)!, facts, reported) : null
}

const isChanged = (row: Partial<Runner>, reported: Partial<Runner>) =>
  (['version_name', 'revision', 'platform', 'architecture', 'ip_address'] as const).some(
    (name) => reported[name] !== undefined && reported[name] !== row[name],
  )

async function noteManager(
  app: App,
  runner: Runner,
  system_id: string,
  { info }: ManagerFacts,
  reported: Partial<Runner> & { contacted_at: string; ip_address: string | null },
): Promise<number | null> {
  const { db } = app
  const known = await db
    .selectFrom('runner_managers')
    .selectAll()
    .where('runner_id', '=', runner.id)
    .where('system_id', '=', system_id)
    .executeTakeFirst()
  const more = info && { executor: cut(info.executor), features: JSON.stringify(info.features ?? {}) }
  if (known) {
    const isFresh = known.contacted_at !== null && known.contacted_at > after(app.clock, -CONTACT_EVERY)
    if (isFresh && !isChanged(known, reported) && (!more || more.features === known.features)) return known.id
    const columns = { ...reported, ...more }
    await db.updateTable('runner_managers').set(columns).where('id', '=', known.id).execute()
    return known.id
  }
  const { have } = await db
    .selectFrom('runner_managers')
    .select((eb) => eb.fn.countAll<number>().as('have'))
    .where('runner_id', '=', runner.id)
    .executeTakeFirstOrThrow()
  if (Number(have) >= MOST_MANAGERS) return null
  const { version_name = null, revision = null, platform = null, architecture = null } = reported
  const made = await db
    .insertInto('runner_managers')
    .values({
      runner_id: runner.id,
      system_id,
      version_name,
      revision,
      platform,
      architecture,
      executor: more?.executor ?? null,
      features: more?.features ?? null,
      ip_address: reported.ip_address,
      contacted_at: reported.contacted_at,
      created_at: reported.contacted_at,
    })
    .onConflict((conflict) =>
      conflict.columns(['runner_id', 'system_id']).doUpdateSet({ contacted_at: reported.contacted_at }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  return made.id
}

export async function deleteManager({ db }: App, runner: Runner, system_id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('runner_managers')
    .where('runner_id', '=', runner.id)
    .where('system_id', '=', system_id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
