import type { ServiceVariables } from '../../../context.ts'
import { effectiveServices } from './queries.ts'
import { serviceOf } from './registry.ts'
import { settingsOf } from './settings.ts'

export const serviceVariables: ServiceVariables = async (app, { id }, scope) => {
  const services = await effectiveServices(app.db, { project_id: id, group_id: null })
  return [...services.values()].flatMap(({ row }) => {
    const service = serviceOf(row.slug)!
    return row.active && service.variables ? service.variables(settingsOf(app, service, row), scope) : []
  })
}
