/** The ten callers of a permission table, around one group and its projects. */
import { refreshAuthorizations } from '../src/features/access/authorizations/service.ts'
import type { Client, Person, TestForge } from '../src/forge.ts'
import { Developer, Guest, Master, Owner, Reporter, type Visibility } from '../src/lib/levels.ts'
import { transact } from '../src/store/transact.ts'
import { timestamp } from '../src/clock.ts'

export const CALLERS = [
  'anonymous',
  'stranger',
  'external',
  'guest',
  'reporter',
  'developer',
  'master',
  'owner',
  'administrator',
  'blocked',
] as const
export type CallerName = (typeof CALLERS)[number]

const LEVELS = { guest: Guest, reporter: Reporter, developer: Developer, master: Master, owner: Owner } as const

export interface Cast {
  readonly callers: Record<CallerName, Client>
  readonly people: Record<Exclude<CallerName, 'anonymous'>, Person>
  readonly group: { id: number; full_path: string }
  /** Creates a project in the group. */
  project(request?: Record<string, unknown>): Promise<{ id: number; path_with_namespace: string }>
}

/** Each role is a membership in the group, inherited by its projects; the blocked user was a developer. */
export async function castOf(forge: TestForge, visibility: Visibility): Promise<Cast> {
  const name = `${visibility}-group`
  const person = (role: string, more = {}) => forge.user({ username: `${visibility}-${role}`, ...more })
  const people = {
    stranger: await person('stranger'),
    external: await person('external', { external: true }),
    guest: await person('guest'),
    reporter: await person('reporter'),
    developer: await person('developer'),
    master: await person('master'),
    owner: await person('owner'),
    administrator: forge.administrator,
    blocked: await person('blocked'),
  }
  const { body: group } = await people.owner.post('/groups', { name, path: name, visibility })
  for (const [role, level] of Object.entries(LEVELS)) {
    if (role !== 'owner') await addMember(forge, { group_id: group.id }, people[role as keyof typeof LEVELS].id, level)
  }
  await addMember(forge, { group_id: group.id }, people.blocked.id, Developer)
  await forge.administrator.post(`/users/${people.blocked.id}/block`)

  let made = 0
  return {
    people,
    callers: { anonymous: forge.visitor, ...people },
    group,
    async project(request = {}) {
      const path = `${visibility}-${++made}`
      const input = { name: path, path, namespace_id: group.id, visibility, ...request }
      return (await people.owner.post('/projects', input)).body
    },
  }
}

/** Inserts a membership directly, without the mail and the event. */
export async function addMember(
  forge: TestForge,
  source: { group_id: number } | { project_id: number },
  user_id: number,
  access_level: number,
): Promise<void> {
  const now = timestamp(forge.clock)
  const whose = { group_id: null, project_id: null, ...source }
  const row = {
    ...whose,
    user_id,
    access_level,
    expires_at: null,
    created_by_id: null,
    created_at: now,
    updated_at: now,
  }
  await forge.app.db.insertInto('members').values(row).execute()
  const { group_id: group, project_id: project } = whose
  const reach = group === null ? { project: project! } : { group }
  await transact(forge.app, (app) => refreshAuthorizations(app, { users: [user_id], ...reach }))
}
