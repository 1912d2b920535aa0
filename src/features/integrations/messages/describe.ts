import type { ScopeColumns } from '../../../api/resource-scopes.ts'
import type { App } from '../../../context.ts'
import type { Events } from '../../../store/database.ts'
import { eventScope, type EventMessage } from '../../../store/outbox.ts'
import { hooksAt, isAnybodyListening } from '../hooks/listening.ts'
import { activeSwitches } from '../services/send.ts'
import { SYSTEM, type Subscription } from './message.ts'
import { sources } from './sources.ts'

const eventNames: ReadonlySet<string> = new Set(sources.map(({ event }) => event))
const switches = [...new Set(sources.flatMap((source) => source.switches))].filter((name) => name !== SYSTEM)

/** The messages of events for all receivers. Builds nothing where no receiver exists. */
export async function describeEvents(
  app: App,
  name: keyof Events,
  payloads: readonly object[],
): Promise<readonly (readonly EventMessage[])[]> {
  if (!eventNames.has(name) || !(await isAnybodyListening(app.db))) return []
  const described = new Map<object, readonly EventMessage[]>()
  const byPlace = Map.groupBy(payloads, (payload) => JSON.stringify(eventScope(name, payload)))
  for (const some of byPlace.values()) {
    const heard = await heardAt(app, eventScope(name, some[0]!))
    const messages = await messagesOfMany(app, name, some, heard)
    for (const [at, payload] of some.entries()) described.set(payload, messages[at]!)
  }
  return payloads.map((payload) => described.get(payload)!)
}

/** Builds the messages of a past event. They show the current state of the records. */
export async function messagesOf(
  app: App,
  name: keyof Events,
  payload: object,
  heard: ReadonlySet<Subscription>,
): Promise<readonly EventMessage[]> {
  return (await messagesOfMany(app, name, [payload], heard))[0]!
}

async function messagesOfMany(
  app: App,
  name: keyof Events,
  payloads: readonly object[],
  heard: ReadonlySet<Subscription>,
): Promise<EventMessage[][]> {
  const messages: EventMessage[][] = payloads.map(() => [])
  for (const source of sources) {
    if (source.event !== name || !source.switches.some((one) => heard.has(one))) continue
    const made = await source.make(app, payloads as never, heard)
    for (const [at, some] of made.entries()) messages[at]!.push(...some)
  }
  return messages.map((some) => some.filter((message) => heard.has((message.switch ?? SYSTEM) as Subscription)))
}

async function heardAt(app: App, place: ScopeColumns): Promise<ReadonlySet<Subscription>> {
  const hooks = await hooksAt(app.db, place)
  const services = place.project_id === null ? new Set() : await activeSwitches(app, place.project_id)
  const heard = new Set<Subscription>(switches.filter((name) => services.has(name) || hooks.some((hook) => hook[name])))
  if (hooks.some(({ project_id, group_id }) => project_id === null && group_id === null)) heard.add(SYSTEM)
  return heard
}
