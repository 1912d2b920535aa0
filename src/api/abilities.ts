/** Which calls a caller may make: the checks of `run.ts` that need no input, without the call. */
import type { App } from '../context.ts'
import { Refusal } from '../errors.ts'
import type { Caller } from './credentials.ts'
import type { AnyResource, Endpoint } from './endpoint.ts'
import { parseInput, type Raw } from './input.ts'
import { templateOf } from './openapi.ts'
import { isWrite } from './read-only.ts'
import { assertAble, assertAdministrator, assertMayEnter, assertWritable, lineOf, readable } from './run.ts'

/**
 * Calls by the name of the ability, such as `PUT /projects/{id}`. A third word names another ability of the resource
 * than the one that the endpoint needs.
 */
export type Calls = Readonly<Record<string, string>>
export type Abilities = (app: App, caller: Caller, calls: Calls, params: Raw) => Promise<Record<string, boolean>>

export function abilitiesIn(endpoints: readonly Endpoint[]): Abilities {
  const byCall = new Map(endpoints.map((one) => [`${one.method} ${templateOf(one.path)}`, one]))
  return async (app, caller, calls, params) => {
    const lookups: Lookups = new Map()
    const answers = Object.entries(calls).map(async ([ability, call]) => {
      const [method, path, other] = call.split(' ')
      const endpoint = byCall.get(`${method} ${path}`)
      if (!endpoint) throw new Error(`no endpoint: ${call}`)
      const checkedEndpoint = other === undefined ? endpoint : { ...endpoint, allow: other }
      // An ability that has no call of its own is one of a write.
      if (app.config.readOnly && (other !== undefined || isWrite(endpoint))) return [ability, false] as const
      return [ability, await isAllowed(app, checkedEndpoint, caller, params, lookups)] as const
    })
    return Object.fromEntries(await Promise.all(answers))
  }
}

/** Records that were looked up for one question, by the function that finds them. */
type Lookups = Map<unknown, Promise<unknown>>

async function isAllowed(app: App, endpoint: Endpoint, caller: Caller, params: Raw, lookups: Lookups) {
  try {
    assertMayEnter(endpoint, caller)
    assertAdministrator(endpoint, caller.identity?.user ?? null)
    if (endpoint.on) assertWritable(endpoint, await subjectOf(app, endpoint, endpoint.on, caller, params, lookups))
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

/** Without the parameters of a child, the abilities of its parents decide. */
async function subjectOf(
  app: App,
  endpoint: Endpoint,
  on: AnyResource,
  { identity }: Caller,
  given: Raw,
  lookups: Lookups,
): Promise<unknown> {
  const { method, path, allow, abilityFirst: early = on.abilityFirst } = endpoint
  const line = lineOf(on).filter(({ params }) => Object.keys(params.shape).every((name) => name in given))
  if (on.policy[allow] !== line.at(-1)?.policy[allow])
    throw new Error(`${method} ${path} depends on more than ${Object.keys(given).join(', ')}`)
  const [params] = parseInput([line.at(-1)!.params], given).parts
  let subject: unknown
  for (const resource of line) {
    const found =
      lookups.get(resource.find) ?? resource.find(app, params as never, identity?.user ?? null, subject as never)
    lookups.set(resource.find, found)
    subject = readable(resource, await found)
    if (typeof early === 'string') assertAble(endpoint, resource, early, subject)
    assertAble(endpoint, resource, allow, subject)
  }
  return subject
}
