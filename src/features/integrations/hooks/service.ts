import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import type { NewRow, Row, RowChange } from '../../../store/database.ts'
import { holdName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { HOOK_SWITCHES, type BranchFilterStrategy, type HookSwitch } from './model.ts'
import { assertUsableUrl, assertValidFilter, assertValidTexts } from './validation.ts'

const MOST_HOOKS = 100

export interface HookWish extends Partial<Record<HookSwitch, boolean | null>> {
  url?: string
  name?: string | null
  description?: string | null
  token?: string | null
  enable_ssl_verification?: boolean | null
  push_events_branch_filter?: string | null
  branch_filter_strategy?: BranchFilterStrategy | null
}

const ALL_OFF = Object.fromEntries(HOOK_SWITCHES.map((name) => [name, false])) as Record<HookSwitch, boolean>

const BLANK = {
  ...ALL_OFF,
  push_events: true,
  name: null,
  description: null,
  token_sealed: null,
  enable_ssl_verification: true,
  push_events_branch_filter: '',
  branch_filter_strategy: 'wildcard',
} as const

/** Null empties a text, and leaves a switch as it is. */
function columnsOf(app: App, wish: HookWish): RowChange<'project_hooks'> {
  const { token, push_events_branch_filter: filter } = wish
  const columns = {
    url: wish.url,
    name: wish.name,
    description: wish.description,
    token_sealed: token ? app.vault.seal(token) : token,
    enable_ssl_verification: wish.enable_ssl_verification ?? undefined,
    push_events_branch_filter: filter === null ? '' : filter,
    branch_filter_strategy: wish.branch_filter_strategy ?? undefined,
  } satisfies RowChange<'project_hooks'>
  const switches = HOOK_SWITCHES.map((name) => [name, wish[name] ?? undefined] as const)
  return Object.fromEntries([...switches, ...Object.entries(columns)].filter(([, value]) => value !== undefined))
}

async function assertValidHook(app: App, wish: HookWish, row: NewRow<'project_hooks'>): Promise<void> {
  const { allow_local_requests_from_web_hooks_and_services: allowLocal } = await currentSettings(app)
  // One that stands already was allowed when it came; whether it still is, is asked at every delivery.
  if (wish.url !== undefined) assertUsableUrl(wish.url, { allowLocal })
  assertValidTexts(wish)
  await assertValidFilter(row)
}

export async function createHook(
  app: App,
  { id: project_id }: Project,
  wish: HookWish & { url: string },
): Promise<Row<'project_hooks'>> {
  const now = timestamp(app.clock)
  const row = { ...BLANK, url: wish.url, ...columnsOf(app, wish), project_id, created_at: now, updated_at: now }
  await assertValidHook(app, wish, row)
  return transact(app, async (app) => {
    await holdName(app.db, `hooks of project ${project_id}`)
    await assertRoom(app, project_id)
    return app.db.insertInto('project_hooks').values(row).returningAll().executeTakeFirstOrThrow()
  })
}

async function assertRoom(app: App, project: number): Promise<void> {
  const { total } = await app.db
    .selectFrom('project_hooks')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('project_id', '=', project)
    .executeTakeFirstOrThrow()
  if (Number(total) < MOST_HOOKS) return
  throw new Refusal('unprocessable', `Maximum number of project hooks (${MOST_HOOKS}) exceeded`)
}

export async function updateHook(app: App, hook: Row<'project_hooks'>, wish: HookWish): Promise<Row<'project_hooks'>> {
  const change = columnsOf(app, wish)
  await assertValidHook(app, wish, { ...hook, ...change })
  const updated = await app.db
    .updateTable('project_hooks')
    .set({ ...change, updated_at: timestamp(app.clock) })
    .where('id', '=', hook.id)
    .returningAll()
    .executeTakeFirst()
  if (!updated) throw notFound() // somebody was faster
  return updated
}

/** Whether there was one to delete. */
export async function deleteHook(app: App, hook: Row<'project_hooks'>): Promise<boolean> {
  const { numDeletedRows } = await app.db.deleteFrom('project_hooks').where('id', '=', hook.id).executeTakeFirst()
  return numDeletedRows > 0n
}
