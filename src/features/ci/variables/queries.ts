/** Which variables of the instance, of groups and of the project a pipeline or a job is given. */
import type { App } from '../../../context.ts'
import type { Variable } from '../../../ci/config/variables.ts'
import type { Row } from '../../../store/database.ts'
import { matches } from '../../repository/protected-branches/matching.ts'

export interface VariablePlace {
  readonly project: { readonly id: number; readonly namespace_id: number }
  /** Whether the ref is protected: others do not get protected ones. */
  readonly isProtected: boolean
  /** The name of the job's environment, for those that are for some only. */
  readonly environment?: string | null
}

/** In order: the later beat the earlier. */
export async function settingsFor(app: App, place: VariablePlace): Promise<Variable[]> {
  const { project, isProtected, environment = null } = place
  const above = await app.db
    .selectFrom('namespace_ancestors')
    .select(['ancestor_id', 'depth'])
    .where('namespace_id', '=', project.namespace_id)
    .execute()
  const depths = new Map(above.map(({ ancestor_id, depth }) => [ancestor_id, depth]))
  const rows = await app.db
    .selectFrom('ci_variables')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('project_id', '=', project.id),
        eb('group_id', 'in', [0, ...depths.keys()]),
        eb.and([eb('project_id', 'is', null), eb('group_id', 'is', null)]),
      ]),
    )
    .$if(!isProtected, (query) => query.where('protected', '=', false))
    .execute()
  const rank = (row: Row<'ci_variables'>) =>
    row.project_id !== null ? Infinity : row.group_id !== null ? 1_000_000 - (depths.get(row.group_id) ?? 0) : 0
  return rows
    .filter(({ environment_scope: scope }) => isInScope(scope, environment))
    .toSorted((a, b) => rank(a) - rank(b) || precision(a) - precision(b) || a.id - b.id)
    .map((row) => ({
      key: row.key,
      value: app.vault.open(row.value_sealed),
      raw: row.raw,
      file: row.variable_type === 'file',
      masked: row.masked,
    }))
}

const isInScope = (scope: string, environment: string | null) =>
  scope === '*' || (environment !== null && matches(scope, environment))

/** Of several scopes, the one that says most wins. */
const precision = ({ environment_scope: scope }: { environment_scope: string }) =>
  scope.includes('*') ? scope.replaceAll('*', '').length : 1_000_000
