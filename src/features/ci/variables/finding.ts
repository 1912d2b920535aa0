/** Finds variables of a project, of a group, or, with neither, of the instance. */
import type { Page, PageRequest } from '../../../api/pages.ts'
import { conflict, notFound } from '../../../errors.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { CiVariable } from './model.ts'

export interface VariableOwner {
  readonly project_id: number | null
  readonly group_id: number | null
}

export const INSTANCE: VariableOwner = { project_id: null, group_id: null }

/** Texts for a missing variable and for a full scope. */
export const WORDS = {
  project: { missing: 'Variable', limit: 'project ci variables' },
  group: { missing: 'GroupVariable', limit: 'group ci variables' },
  instance: { missing: 'Instance Variable', limit: 'ci instance level variables' },
} as const

export const kindOf = ({ project_id, group_id }: VariableOwner): keyof typeof WORDS =>
  project_id !== null ? 'project' : group_id !== null ? 'group' : 'instance'

export function variablesOf(db: Db, { project_id, group_id }: VariableOwner) {
  return db
    .selectFrom('ci_variables')
    .selectAll()
    .where('project_id', project_id === null ? 'is' : '=', project_id)
    .where('group_id', group_id === null ? 'is' : '=', group_id)
}

export const listVariables = (db: Db, owner: VariableOwner, page: PageRequest): Promise<Page<CiVariable>> =>
  pageOfQuery(variablesOf(db, owner).orderBy('key').orderBy('environment_scope'), page)

/** A key may exist once for each environment scope, so the caller may name the scope. */
export async function findVariable(
  db: Db,
  owner: VariableOwner,
  key: string,
  scope?: string | null,
): Promise<CiVariable> {
  const found = await variablesOf(db, owner)
    .where('key', '=', key)
    .$if((scope ?? null) !== null, (query) => query.where('environment_scope', '=', scope!))
    .limit(2)
    .execute()
  if (found.length > 1) {
    throw conflict("There are multiple variables with provided parameters. Please use 'filter[environment_scope]'")
  }
  const [variable] = found
  if (!variable) throw notFound(WORDS[kindOf(owner)].missing)
  return variable
}
