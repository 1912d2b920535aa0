/** Groups and their members, for permission tests. */
import type { Client, Person, TestForge } from '../src/forge.ts'
import { Developer, Guest, Master, Owner, Reporter } from '../src/lib/levels.ts'
import { CALLERS, addMember, type CallerName } from './cast.ts'

export type People = Record<Exclude<CallerName, 'anonymous'>, Person> & { anonymous: Client }

/** All callers, with their roles in these groups. The blocked user was an owner. */
export async function castFor(forge: TestForge, ...groups: number[]): Promise<People> {
  const member = async (level: number, blocked = false) => {
    const person = await forge.user()
    for (const group_id of groups) await addMember(forge, { group_id }, person.id, level)
    if (blocked) await forge.administrator.post(`/users/${person.id}/block`)
    return person
  }
  return {
    anonymous: forge.visitor,
    stranger: await forge.user(),
    external: await forge.user({ external: true }),
    guest: await member(Guest),
    reporter: await member(Reporter),
    developer: await member(Developer),
    master: await member(Master),
    owner: await member(Owner),
    administrator: forge.administrator,
    blocked: await member(Owner, true),
  }
}

/** The status for each caller, in the order of `CALLERS`. */
export async function statuses(cast: People, call: (caller: Client) => Promise<{ status: number }>): Promise<number[]> {
  const answers: number[] = []
  for (const caller of CALLERS) answers.push((await call(cast[caller])).status)
  return answers
}

/** A group of the administrator. */
export async function groupOf(
  { administrator }: TestForge,
  path: string,
  more: Record<string, unknown> = {},
): Promise<{ id: number; full_path: string }> {
  const { status, body } = await administrator.post('/groups', { name: path, path, ...more })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

/** A project of the administrator in a group. */
export async function projectIn(
  { administrator }: TestForge,
  group: { id: number },
  path: string,
  more: Record<string, unknown> = {},
): Promise<{ id: number; path_with_namespace: string }> {
  const { status, body } = await administrator.post('/projects', { path, namespace_id: group.id, ...more })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}
