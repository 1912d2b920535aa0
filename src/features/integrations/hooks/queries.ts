import type { Page, PageRequest } from '../../../api/pages.ts'
import type { ScopeColumns } from '../../../api/resource-scopes.ts'
import type { App } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { presentHook, type HookRecord } from './entity.ts'
import type { Hook } from './model.ts'

export const hooksIn = (db: Db, { project_id, group_id }: ScopeColumns) =>
  db
    .selectFrom('hooks')
    .selectAll()
    .where('project_id', project_id === null ? 'is' : '=', project_id)
    .where('group_id', group_id === null ? 'is' : '=', group_id)

export const listHooks = (db: Db, at: ScopeColumns, page: PageRequest): Promise<Page<Hook>> =>
  pageOfQuery(hooksIn(db, at).orderBy('id', 'desc'), page)

export async function findHook(db: Db, at: ScopeColumns, hook: number): Promise<Hook | null> {
  return (await hooksIn(db, at).where('id', '=', hook).executeTakeFirst()) ?? null
}

export async function presentHooks(app: App, hooks: readonly Hook[]): Promise<HookRecord[]> {
  const { hooks_auto_disabled: isOn } = await currentSettings(app)
  return hooks.map((hook) => presentHook(app, hook, isOn))
}

export async function presentOneHook(app: App, hook: Hook): Promise<HookRecord> {
  return (await presentHooks(app, [hook]))[0]!
}
