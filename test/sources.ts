/** Groups and projects with users, for permission tests. */
import type { Client, Person, Reply, TestForge } from '../src/forge.ts'

export type Kind = 'groups' | 'projects'
export const KINDS: Kind[] = ['groups', 'projects']

export interface Source {
  readonly kind: Kind
  readonly id: number
  /** As in the API: `/groups/1`. */
  readonly url: string
  /** The displayed name and path. */
  readonly title: string
  readonly path: string
  readonly group: { readonly id: number; readonly url: string }
  /** The owner of the group, and so of its project. */
  readonly owner: Person
}

let made = 0

/** A group, or a project inside one, with a new owner. */
export async function openSource(
  forge: TestForge,
  kind: Kind,
  input: Record<string, unknown> & { visibility?: string } = {},
): Promise<Source> {
  const number = ++made
  const owner = await forge.user({ username: `owner${number}`, name: `Owner ${number}` })
  const { visibility = 'private', ...more } = input
  const ofGroup = kind === 'groups' ? more : {}
  const created = await owner.post('/groups', {
    name: `Tools ${number}`,
    path: `tools${number}`,
    visibility,
    ...ofGroup,
  })
  const group = { id: created.body.id as number, url: `/groups/${created.body.id}` }
  const common = { kind, group, owner }
  if (kind === 'groups') {
    return { ...common, ...group, title: created.body.full_name, path: `/groups/tools${number}` }
  }
  const { body } = await owner.post('/projects', { name: 'Saw', namespace_id: group.id, visibility, ...more })
  const { id, name_with_namespace: title, path_with_namespace } = body
  return { ...common, id, url: `/projects/${id}`, title, path: `/${path_with_namespace}` }
}

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

/** All kinds of callers, relative to one group or project. */
export async function callersOf(forge: TestForge, { url, owner }: Source): Promise<Record<CallerName, Client>> {
  const member = async (access_level: number) => {
    const person = await forge.user()
    await owner.post(`${url}/members`, { user_id: person.id, access_level })
    return person
  }
  const blocked = await member(40)
  await forge.administrator.post(`/users/${blocked.id}/block`)
  return {
    anonymous: forge.visitor,
    stranger: await forge.user(),
    external: await forge.user({ external: true }),
    guest: await member(10),
    reporter: await member(20),
    developer: await member(30),
    master: await member(40),
    owner,
    administrator: forge.administrator,
    blocked,
  }
}

/** The status for each caller, in the order of `CALLERS`. */
export async function statusesOf(
  callers: Record<CallerName, Client>,
  call: (caller: Client) => Promise<Reply>,
): Promise<number[]> {
  const statuses: number[] = []
  for (const name of CALLERS) statuses.push((await call(callers[name])).status)
  return statuses
}

/** The least of three runs: the idle worker and the short-lived settings cache sometimes add queries. */
export async function costOf(forge: TestForge, work: () => Promise<unknown>): Promise<number> {
  await forge.settle()
  const costs = [await forge.queries(work), await forge.queries(work), await forge.queries(work)]
  return Math.min(...costs)
}
