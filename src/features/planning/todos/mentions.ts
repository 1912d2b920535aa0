import { sql } from 'kysely'
import type { App, User } from '../../../context.ts'
import { Guest } from '../../../lib/levels.ts'
import { referencesIn } from '../../../lib/markdown/markdown.ts'
import { levelOnProject } from '../../access/authorizations/queries.ts'
import { groupPolicy } from '../../groups/groups/policy.ts'
import { loadGroupSubject, type Group } from '../../groups/groups/queries.ts'

/** Lower-case names, and whether the text addresses the user directly. */
export type Mentions = Map<string, { readonly addressed: boolean }>

const MOST_NAMES = 200
/** The default limit of members per group. */
const MOST_PEOPLE = 2000

export async function namesIn(texts: readonly (string | null | undefined)[]): Promise<Mentions> {
  const named: Mentions = new Map()
  for (const text of texts) {
    for (const reference of text ? await referencesIn(text) : []) {
      if (reference.kind !== 'user') continue
      const name = reference.name.toLowerCase()
      if (!named.has(name) && named.size >= MOST_NAMES) continue
      named.set(name, { addressed: reference.addressed || (named.get(name)?.addressed ?? false) })
    }
  }
  return named
}

type Titled = { readonly title: string; readonly description: string | null }
type Changes = { readonly [field: string]: readonly [unknown, unknown] }

/** Mentions in title and description that were not there before the change. */
export async function namesAdded(item: Titled, changes: Changes): Promise<Mentions> {
  const textsOf = (side: 0 | 1) =>
    (['title', 'description'] as const).map((field) =>
      changes[field] ? (changes[field][side] as string | null) : item[field],
    )
  return without(await namesIn(textsOf(1)), await namesIn(textsOf(0)))
}

export function without(named: Mentions, before: Mentions): Mentions {
  for (const name of before.keys()) named.delete(name)
  return named
}

/**
 * Ids of mentioned users, of members of groups the author may see and, if the author is a member, of all project
 * members (`@all`).
 */
export async function mentionedPeople(
  app: App,
  by: User,
  project: number,
  named: Mentions,
  most = MOST_PEOPLE,
): Promise<{ addressed: number[]; mentioned: number[] }> {
  const people = new Map<number, boolean>()
  const add = (id: number, addressed: boolean) => people.set(id, addressed || (people.get(id) ?? false))
  for (const [name, ids] of await idsByName(app, by, project, [...named.keys()], most))
    for (const id of ids) add(id, named.get(name)!.addressed)
  const ids = [...people.keys()]
  return {
    addressed: ids.filter((id) => people.get(id)),
    mentioned: ids.filter((id) => !people.get(id)),
  }
}

/** Groups with these lower-case names that the author may see. */
export async function mentionedGroups(app: App, by: User, names: readonly string[]): Promise<Group[]> {
  if (names.length === 0) return []
  const groups = await app.db
    .selectFrom('namespaces')
    .selectAll()
    .where('kind', '=', 'group')
    .where('deleting', '=', false)
    .where(sql`lower(full_path)`, 'in', names)
    .execute()
  const subjects = await Promise.all(groups.map((group) => loadGroupSubject(app, group, by)))
  return subjects.filter(groupPolicy.read).map(({ group }) => group)
}

/** Only members of the project may mention `@all`. */
export const namesTeam = async ({ db }: App, by: User, project: number, names: readonly string[]): Promise<boolean> =>
  names.includes('all') && (await levelOnProject(db, by, project)) >= Guest

async function idsByName(
  app: App,
  by: User,
  project: number,
  names: readonly string[],
  most: number,
): Promise<Map<string, number[]>> {
  const { db } = app
  const found = new Map<string, number[]>()
  if (names.length === 0) return found
  const users = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where(sql`lower(username)`, 'in', names)
    .execute()
  for (const { id, username } of users) found.set(username.toLowerCase(), [id])
  for (const group of await mentionedGroups(app, by, names)) {
    const members = await db
      .selectFrom('members as m')
      .innerJoin('namespace_ancestors as a', 'a.ancestor_id', 'm.group_id')
      .select('m.user_id')
      .where('a.namespace_id', '=', group.id)
      .limit(most)
      .execute()
    found.set(
      group.full_path.toLowerCase(),
      members.map(({ user_id }) => user_id),
    )
  }
  if (await namesTeam(app, by, project, names)) {
    const team = await db
      .selectFrom('project_authorizations')
      .select('user_id')
      .where('project_id', '=', project)
      .where('access_level', '>=', Guest)
      .limit(most)
      .execute()
    found.set(
      'all',
      team.map(({ user_id }) => user_id),
    )
  }
  return found
}
