/**
 * The kit for a family's `cases.ts`: a table of statuses by caller and, for endpoints that need it, the required
 * records, a valid input and the scopes. The tables are written from the rules, not from the answers. The tests that
 * call every endpoint of the API find the files by themselves (`endpoints.ts`).
 */
import type { Client, Person, Reply, TestForge } from '../src/forge.ts'
import type { Visibility } from '../src/lib/levels.ts'
import type { MaybePromise } from '../src/lib/async/maybe-promise.ts'
import { CALLERS, castOf, type CallerName, type Cast } from './cast.ts'
import { fillProject } from './contents.ts'

/**
 * The records that endpoints are called on: the ten callers, a group of the owner's and a project with content in it.
 */
export interface Stage {
  readonly forge: TestForge
  readonly cast: Cast
  readonly owner: Person
  readonly group: Cast['group']
  readonly project: { id: number }
  /** The folder of the project's repository. */
  readonly repository: string
  /** Another project of the group, without content, for calls that delete or change it. */
  newProject(): Promise<{ id: number }>
  /** A user who is not among the callers. */
  newcomer(): Promise<Person>
  /** The answer of the API when `by` posts; the owner by default. */
  // oxlint-disable-next-line no-explicit-any -- read as the case expects it
  make(path: string, input?: Input, by?: Person): Promise<any>
}

export type Input = Record<string, unknown> | FormData
export type Params = Record<string, string | number>

export interface Ask {
  /** The path's parameters. `id` is the project or group of the stage by default, depending on the path. */
  at?: (s: Stage) => MaybePromise<Params>
  /** The same, for endpoints where each user finds only their own records. */
  own?: (s: Stage, who: Person) => MaybePromise<Params>
  /** A valid input, in the query of a read and in the body otherwise. */
  input?: Input | ((s: Stage) => MaybePromise<Input>)
  /**
   * `read_user`: also readable with that scope; `any`: with tokens of every scope; `secret`: only with `api`, even to
   * read.
   */
  scope?: 'read_user' | 'any' | 'secret'
}

export type Row = Partial<Record<CallerName, number>>

/** One line of a table: an endpoint, or a variant of one such as `PUT /projects/:id (name)`. */
export interface Case extends Ask {
  readonly name: string
  /** The name without the variant. */
  readonly endpoint: string
  readonly method: string
  readonly path: string
  /** Endpoints without a group or project have one row, `instance`. */
  readonly rows: Partial<Record<'private' | 'public' | 'instance', Row>>
}

const COLUMNS = ['anon', 'strg', 'extn', 'guest', 'rept', 'devl', 'mast', 'ownr', 'admn', 'blkd']

/**
 * The cases of a family. The table has a column for each caller in its first line. Each endpoint has either a row for
 * `private` and one for `public`, which omits the name, or a single row. `asks` has the rest, by name.
 */
export function casesOf(table: string, asks: Record<string, Ask> = {}): Case[] {
  const [header = '', ...lines] = table.split('\n').filter((line) => line.trim())
  const callers = header.trim().split(/ +/).map(callerOf)
  const cases = new Map<string, Case>()
  let name = ''
  for (const line of lines) {
    const [, named, visibility, codes] = /^ +(?:([A-Z]+ \/.*?) +)?(private|public)? *((?: *\d{3})+)$/.exec(line) ?? []
    const answers = codes?.trim().split(/ +/).map(Number)
    if (answers?.length !== callers.length) throw new Error(`not a row: ${line}`)
    name = named ?? name
    const { rows } = cases.get(name) ?? cases.set(name, caseOf(name, asks[name])).get(name)!
    const kind = (visibility ?? 'instance') as keyof Case['rows']
    if (rows[kind]) throw new Error(`${name} has two rows of one kind`)
    rows[kind] = Object.fromEntries(callers.map((caller, n) => [caller, answers[n]!]))
  }
  for (const asked of Object.keys(asks)) if (!cases.has(asked)) throw new Error(`${asked} has no row`)
  return [...cases.values()]
}

function callerOf(column: string): CallerName {
  const caller = CALLERS[COLUMNS.indexOf(column)]
  if (!caller) throw new Error(`no caller: ${column}`)
  return caller
}

function caseOf(name: string, ask: Ask = {}): Case {
  const endpoint = name.replace(/ \(.*\)$/, '')
  const [method, path] = endpoint.split(' ') as [string, string]
  return { ...ask, name, endpoint, method, path, rows: {} }
}

/** The URL of the case, after its required records were created. */
export async function addressOf({ name, path, at, own }: Case, s: Stage, who: Person): Promise<string> {
  const source = path.startsWith('/projects') ? { id: s.project.id } : path.startsWith('/groups') && { id: s.group.id }
  const params: Params = { ...source, ...(await at?.(s)), ...(await own?.(s, who)) }
  return path.replace(/:(\w+)|\*/g, (found, param: string | undefined) => {
    const value = params[param ?? found]
    if (value === undefined) throw new Error(`${name}: nothing for ${found}`)
    return param ? encodeURIComponent(value) : String(value)
  })
}

export async function inputOf({ input }: Case, s: Stage): Promise<Input | undefined> {
  return typeof input === 'function' ? input(s) : input
}

export const call = (client: Client, method: string, address: string, input?: Input): Promise<Reply> =>
  method === 'GET' && !(input instanceof FormData) ? client.get(address, input) : client.request(method, address, input)

export async function setStage(forge: TestForge, visibility: Visibility): Promise<Stage> {
  const cast = await castOf(forge, visibility)
  const { owner } = cast.people
  await owner.put(`/groups/${cast.group.id}`, { request_access_enabled: true })
  const newProject = () => cast.project({ request_access_enabled: true })
  const project = await newProject()
  return {
    forge,
    cast,
    owner,
    group: cast.group,
    project,
    repository: await fillProject(forge, project.id),
    newProject,
    newcomer: () => forge.user({ username: unique('newcomer') }),
    async make(path, input, by = owner) {
      const { status, body } = await by.post(path, input)
      if (status >= 300) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)} ${forge.lastFault()}`)
      return body
    },
  }
}

let made = 0
export const unique = (word: string) => `${word}${++made}`

export const newProject = async (s: Stage): Promise<Params> => ({ id: (await s.newProject()).id })

/** Deletes a record at this path into the bin. The stage otherwise deletes at once. */
export async function inBin({ forge: { administrator }, owner }: Stage, path: string): Promise<void> {
  await administrator.put('/application/settings', { deletion_adjourned_period: 7 })
  const { status } = await owner.delete(path)
  if (status !== 204) throw new Error(`DELETE ${path}: ${status}`)
  await administrator.put('/application/settings', { deletion_adjourned_period: 0 })
}

export const projectPath = (s: Stage, tail: string) => `/projects/${s.project.id}${tail}`
export const groupPath = (s: Stage, tail: string) => `/groups/${s.group.id}${tail}`

/** A member of the project or group at this path. */
export const memberAt = (path: typeof projectPath) => async (s: Stage) => {
  const { id: user_id } = await s.newcomer()
  await s.make(path(s, '/members'), { user_id, access_level: 10 })
  return { user_id }
}

/** A member that this user has removed: only the same user can undo the removal. */
export const removedMemberAt = (path: typeof projectPath) => async (s: Stage, who: Person) => {
  const { user_id } = await memberAt(path)(s)
  await who.delete(path(s, `/members/${user_id}`))
  return { user_id }
}
