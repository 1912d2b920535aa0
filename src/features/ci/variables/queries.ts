/** Chooses the variables of the instance, of groups and of the project for a pipeline or a job. */
import type { App } from '../../../context.ts'
import type { Variable } from '../../../ci/config/variables.ts'
import type { Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { matches } from '../../repository/protected-branches/matching.ts'

export interface VariableScope {
  readonly project: { readonly id: number; readonly namespace_id: number }
  /** Whether the ref is protected. Unprotected refs do not get protected variables. */
  readonly isProtected: boolean
  /** The name of the job's environment, for variables with an environment scope. */
  readonly environment?: string | null
}

const groupsAbove = hotQuery((db, p: { id: number }) =>
  db.selectFrom('namespace_ancestors').select(['ancestor_id', 'depth']).where('namespace_id', '=', p.id),
)

const variablesIn = hotQuery((db, p: { project: number; groups: string }) =>
  db
    .selectFrom('ci_variables')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('project_id', '=', p.project),
        inIdList(db, 'group_id', p.groups),
        eb.and([eb('project_id', 'is', null), eb('group_id', 'is', null)]),
      ]),
    ),
)

/** In order: later variables override earlier ones. */
export async function settingsFor(app: App, variableScope: VariableScope): Promise<Variable[]> {
  const { project, isProtected, environment = null } = variableScope
  const above = await groupsAbove(app.db, { id: project.namespace_id })
  const depths = new Map(above.map(({ ancestor_id, depth }) => [ancestor_id, depth]))
  const groups = idList(app.db, [...depths.keys()])
  const found = await variablesIn(app.db, { project: project.id, groups })
  const rows = found.filter((row) => isProtected || !row.protected)
  const rank = (row: Row<'ci_variables'>) =>
    row.project_id !== null ? Infinity : row.group_id !== null ? 1_000_000 - (depths.get(row.group_id) ?? 0) : 0
  const given = await app.serviceVariables(app, project, { isProtected, environment })
  const own = rows
    .filter(({ environment_scope: scope }) => isInScope(scope, environment))
    .toSorted((a, b) => rank(a) - rank(b) || precision(a) - precision(b) || a.id - b.id)
    .map((row) => ({
      key: row.key,
      value: app.vault.open(row.value_sealed),
      raw: row.raw,
      file: row.variable_type === 'file',
      masked: row.masked,
    }))
  return [...given, ...own]
}

const isInScope = (scope: string, environment: string | null) =>
  scope === '*' || (environment !== null && matches(scope, environment))

/** The most specific environment scope wins. */
const precision = ({ environment_scope: scope }: { environment_scope: string }) =>
  scope.includes('*') ? scope.replaceAll('*', '').length : 1_000_000
