/**
 * Messages: the payloads of events for webhooks and services. A source builds the messages of one kind of event in the
 * transaction of the change, so they show the state at that moment. It builds them only where a receiver exists. Data
 * from git is added later (`complete`): commits never change.
 */
import type { App } from '../../../context.ts'
import type { Events } from '../../../store/database.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import type { AnySwitch } from '../hooks/model.ts'

/** For lifecycle events, which every system hook receives. */
export const SYSTEM = 'system'

export type Subscription = AnySwitch | typeof SYSTEM

export interface MessageSource {
  readonly event: keyof Events
  /** The source runs only if a receiver has one of these switches on. */
  readonly switches: readonly Subscription[]
  /** One list of messages per event. All events belong to the same scope. */
  make(
    app: App,
    payloads: never,
    subscriptions: ReadonlySet<Subscription>,
  ): Promise<readonly (readonly EventMessage[])[]>
}

/** For many events at once: shared data is loaded once. */
export const sourceOfMany = <E extends keyof Events>(
  event: E,
  switches: readonly Subscription[],
  make: (app: App, payloads: readonly Events[E][]) => Promise<readonly (readonly EventMessage[])[]>,
): MessageSource => ({ event, switches, make })

export const source = <E extends keyof Events>(
  event: E,
  switches: readonly Subscription[],
  make: (app: App, payload: Events[E], subscriptions: ReadonlySet<Subscription>) => Promise<readonly EventMessage[]>,
): MessageSource => ({
  event,
  switches,
  async make(app, payloads: readonly Events[E][], subscriptions) {
    const made: (readonly EventMessage[])[] = []
    for (const payload of payloads) made.push(await make(app, payload, subscriptions))
    return made
  },
})

/** Adds data from git to the body of a message. */
export type Complete = (
  app: App,
  message: { readonly project_id: number | null; readonly body: object },
) => Promise<object>

interface ProjectMessage {
  readonly kind: string
  readonly switch: AnySwitch
  readonly project_id: number
  readonly body: object
  /** The name of the branch. */
  readonly ref?: string | null
  /** System hooks receive the message, too. */
  readonly to_system?: boolean
  /** False: `complete` has yet to run. */
  readonly complete?: boolean
}

/** For hooks of a project and of its ancestor groups. */
export const projectMessage = ({
  ref = null,
  to_system = false,
  complete = true,
  ...message
}: ProjectMessage): EventMessage => ({
  ...message,
  group_id: null,
  to_projects: true,
  to_groups: true,
  to_system,
  ref,
  complete,
})

/** For hooks of a group and of its ancestor groups. */
export const groupMessage = (kind: string, name: AnySwitch, group_id: number, body: object): EventMessage => ({
  kind,
  switch: name,
  project_id: null,
  group_id,
  to_projects: false,
  to_groups: true,
  to_system: false,
  ref: null,
  body,
  complete: true,
})

/** For every system hook, or only for those with the switch on. */
export const instanceMessage = (kind: string, body: object, name: AnySwitch | null = null): EventMessage => ({
  kind,
  switch: name,
  project_id: null,
  group_id: null,
  to_projects: false,
  to_groups: false,
  to_system: true,
  ref: null,
  body,
  complete: true,
})
