import { sql } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { Guest } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList, likePattern } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { lookup, type Lookup } from '../../../store/lookups.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { levelsInGroups } from '../../access/authorizations/queries.ts'
import { guardedProject } from '../../projects/projects/queries.ts'
import type { LoadedRule, Rules } from './matching.ts'
import type { Ability } from './model.ts'
import { protectionPolicy } from './policy.ts'

export type Kind = 'branch' | 'tag'

const TABLES = {
  branch: { rules: 'protected_branches', allowances: 'protected_branch_levels' },
  tag: { rules: 'protected_tags', allowances: 'protected_tag_levels' },
} as const

/** Branch rules and tag rules have the same columns, so both use the type of branch rules. */
export const tablesOf = (kind: Kind) => TABLES[kind] as (typeof TABLES)['branch']

interface Filter {
  project_id: number
  name?: string
  ids?: string
}

/** One row for each entry, and one row for a rule without entries. */
const entriesOf = (kind: Kind) =>
  hotQuery((db, filter: Filter, given) => {
    const { rules, allowances } = tablesOf(kind)
    return db
      .selectFrom(`${rules} as r`)
      .leftJoin(`${allowances} as a`, 'a.rule_id', 'r.id')
      .leftJoin('users as u', 'u.id', 'a.user_id')
      .leftJoin('namespaces as g', 'g.id', 'a.group_id')
      .leftJoin('keys as k', 'k.id', 'a.deploy_key_id')
      .select(['r.id', 'r.project_id', 'r.name', 'r.allow_force_push', 'r.code_owner_approval_required'])
      .select(['r.updated_at', 'a.id as allowance_id', 'a.ability', 'a.access_level'])
      .select(['a.user_id', 'a.group_id', 'a.deploy_key_id'])
      .select([sql<string | null>`coalesce(u.name, g.name, k.title)`.as('whose'), 'g.deleting as in_bin'])
      .where('r.project_id', '=', filter.project_id)
      .$if(given('name'), (query) => query.where('r.name', '=', filter.name!))
      .$if(given('ids'), (query) => query.where(inIdList(db, 'r.id', filter.ids!)))
      .orderBy('r.id')
      .orderBy('a.id')
  })

const ENTRIES = { branch: entriesOf('branch'), tag: entriesOf('tag') }

const loadRules = async (db: Db, kind: Kind, filter: Filter): Promise<LoadedRule[]> =>
  rulesFrom(await ENTRIES[kind](db, filter))

function rulesFrom(rows: Awaited<ReturnType<(typeof ENTRIES)[Kind]>>): LoadedRule[] {
  const rules = new Map<number, LoadedRule>()
  for (const row of rows) {
    const { allowance_id, ability, access_level, user_id, group_id, deploy_key_id, whose, in_bin, ...rule } = row
    const known = rules.get(rule.id) ?? { ...rule, allowances: [] }
    rules.set(rule.id, known)
    if (allowance_id === null) continue
    known.allowances.push({
      id: allowance_id,
      ability: ability as Ability,
      access_level,
      user_id,
      group_id,
      deploy_key_id,
      whose,
      inBin: in_bin ?? false,
    })
  }
  return [...rules.values()]
}

/** All protection rules of one kind in a project, in one query. */
export const findProtection = (db: Db, project: number, kind: Kind): Promise<LoadedRule[]> =>
  loadRules(db, kind, { project_id: project })

export const protectionLookup = (project: number, kind: Kind): Lookup<LoadedRule[]> =>
  lookup(ENTRIES[kind], { project_id: project }, (rows) => rulesFrom([...rows]))

export async function findRule(db: Db, kind: Kind, project: number, name: string): Promise<LoadedRule | null> {
  return (await loadRules(db, kind, { project_id: project, name }))[0] ?? null
}

export async function listRules(
  db: Db,
  kind: Kind,
  project: number,
  { search }: { search?: string | null },
  page: PageRequest,
): Promise<Page<LoadedRule>> {
  const all = db.selectFrom(tablesOf(kind).rules).select('id').where('project_id', '=', project)
  const found = search
    ? all.where(sql<boolean>`lower(name) like ${likePattern(search.toLowerCase())} escape '\\'`)
    : all
  const { items, total } = await pageOfQuery(found.orderBy('id'), page)
  const ids = idList(
    db,
    items.map(({ id }) => id),
  )
  return { total, items: items.length === 0 ? [] : await loadRules(db, kind, { project_id: project, ids }) }
}

/** The groups that these rules name and that the user belongs to. No query if the rules name none. */
export async function groupsAmong(db: Db, user: User | null, rules: Rules): Promise<number[]> {
  const named = rules.flatMap(({ allowances }) => allowances.map(({ group_id }) => group_id))
  const ids = [...new Set(named)].filter((id) => id !== null)
  const levels = await levelsInGroups(db, user, ids)
  return ids.filter((id) => levels(id) >= Guest)
}

/** The project resource with the policy for protection rules. */
export const protectedProject = { ...guardedProject, policy: protectionPolicy }

/** `/projects/:id/protected_branches/:name`, and the same for tags. */
export const protectedName = (kind: Kind) =>
  child(protectedProject, {
    key: 'rule',
    params: { name: text },
    find: (app, { project }, { name }) => findRule(app.db, kind, project.id, name),
  })
