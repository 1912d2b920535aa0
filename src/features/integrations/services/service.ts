import type { Raw } from '../../../api/input.ts'
import type { ScopeColumns } from '../../../api/resource-scopes.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { unlessOrphan } from '../../../store/violations.ts'
import type { Service } from './declare.ts'
import { SERVICE_SWITCHES, type ServiceRow, type ServiceSwitch } from './model.ts'
import { findOwnService } from './queries.ts'
import { changedSettings, type NewSettings } from './settings.ts'

export interface ServiceInput extends Partial<Record<ServiceSwitch, boolean | null>> {
  readonly active?: boolean | null | undefined
  readonly use_inherited_settings?: boolean | null | undefined
}

const NOTHING: NewSettings = { properties: '{}', secrets_sealed: null }

interface NewState extends NewSettings, Partial<Record<ServiceSwitch, boolean>> {
  readonly active: boolean
  readonly inherits: boolean
}

/** One row per scope and slug, created on first use. */
async function change(
  app: App,
  scope: ScopeColumns,
  { slug }: Service,
  stateOf: (app: App, row: ServiceRow | null) => Promise<NewState>,
): Promise<void> {
  const changed = transact(app, async (app) => {
    await lockName(app.db, `service ${slug} of ${scope.project_id ?? ''}/${scope.group_id ?? ''}`)
    const row = await findOwnService(app.db, scope, slug)
    const state = { ...(await stateOf(app, row)), updated_at: timestamp(app.clock) }
    if (row) return app.db.updateTable('services').set(state).where('id', '=', row.id).execute()
    const on = Object.fromEntries(SERVICE_SWITCHES.map((name) => [name, true])) as Record<ServiceSwitch, boolean>
    const { project_id, group_id } = scope
    return app.db
      .insertInto('services')
      .values({ ...on, ...state, project_id, group_id, slug, created_at: state.updated_at })
      .execute()
  })
  await unlessOrphan(changed, () => notFound(scope.project_id === null ? 'Group' : 'Project'))
}

/** Configuring a service switches it on, unless the input says otherwise. */
export const configureService = (
  app: App,
  scope: ScopeColumns,
  service: Service,
  input: ServiceInput,
  properties: Raw,
): Promise<void> =>
  change(app, scope, service, async (app, row) => {
    const switches = Object.fromEntries(
      SERVICE_SWITCHES.flatMap((name) => (typeof input[name] === 'boolean' ? [[name, input[name]]] : [])),
    )
    if (input.use_inherited_settings) return { ...NOTHING, ...switches, active: true, inherits: true }
    const own = row?.inherits ? null : row
    const settings = await changedSettings(app, service, own, properties)
    return { ...settings, ...switches, active: input.active ?? true, inherits: false }
  })

/**
 * Also deletes the linked chat users. The row stays, switched off, so that the service of a group does not take its
 * place.
 */
export const disableService = (app: App, scope: ScopeColumns, service: Service): Promise<void> =>
  change(app, scope, service, async ({ db }, row) => {
    if (row) await db.deleteFrom('chat_names').where('service_id', '=', row.id).execute()
    return { ...NOTHING, active: false, inherits: false }
  })
