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
  const byScope = Map.groupBy(payloads, (payload) => JSON.stringify(eventScope(name, payload)))
  for (const some of byScope.values()) {
    const subscriptions = await subscriptionsAt(app, eventScope(name, some[0]!))
    const messages = await messagesOfMany(app, name, some, subscriptions)
    for (const [at, payload] of some.entries()) described.set(payload, messages[at]!)
  }
  return payloads.map((payload) => described.get(payload)!)
}

/** Builds the messages of a past event. They show the current state of the records. */
export async function messagesOf(
  app: App,
  name: keyof Events,
  payload: object,
  subscriptions: ReadonlySet<Subscription>,
): Promise<readonly EventMessage[]> {
  return (await messagesOfMany(app, name, [payload], subscriptions))[0]!
}

async function messagesOfMany(
  app: App,
  name: keyof Events,
  payloads: readonly object[],
  subscriptions: ReadonlySet<Subscription>,
): Promise<EventMessage[][]> {
  const messages: EventMessage[][] = payloads.map(() => [])
  for (const source of sources) {
    if (source.event !== name || !source.switches.some((one) => subscriptions.has(one))) continue
    const made = await source.make(app, payloads as never, subscriptions)
    for (const [at, some] of made.entries()) messages[at]!.push(...some)
  }
  return messages.map((some) => some.filter((message) => subscriptions.has((message.switch ?? SYSTEM) as Subscription)))
}

async function subscriptionsAt(app: App, scope: ScopeColumns): Promise<ReadonlySet<Subscription>> {
  const hooks = await hooksAt(app.db, scope)
  const services = scope.project_id === null ? new Set() : await activeSwitches(app, scope.project_id)
  const subscriptions = new Set<Subscription>(
    switches.filter((name) => services.has(name) || hooks.some((hook) => hook[name])),
  )
  if (hooks.some(({ project_id, group_id }) => project_id === null && group_id === null)) subscriptions.add(SYSTEM)
  return subscriptions
}
