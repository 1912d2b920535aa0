import type { TransactionApp } from '../../../context.ts'
import type { ScopeRow } from '../scopes.ts'
import type { DeletedItem } from './model.ts'

/** The project with its namespace, or the group, to which a deleted record belongs. */
export async function scopeOf({ db }: TransactionApp, { project_id, group_id }: DeletedItem): Promise<ScopeRow> {
  if (project_id === null) return { project: null, namespace: { id: group_id! } }
  const { namespace_id } = await db
    .selectFrom('projects')
    .select('namespace_id')
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow()
  return { project: { id: project_id }, namespace: { id: namespace_id } }
}
