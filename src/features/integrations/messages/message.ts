/**
 * What the outside is told of an event. A source makes messages of one kind of event, in the transaction of the change,
 * so that they show things as they were at that moment; only where somebody listens. What git has to be asked for is
 * put in later (`complete`): commits never change.
 */
import type { App } from '../../../context.ts'
import type { Events } from '../../../store/database.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import type { AnySwitch } from '../hooks/model.ts'

/** Of lifecycle events, that every hook of the instance hears. */
export const SYSTEM = 'system'

export type Subscription = AnySwitch | typeof SYSTEM

export interface MessageSource {
  readonly event: keyof Events
  /** It is not asked unless somebody has one of these on. */
  readonly wanted: readonly Subscription[]
  /** Of each event of one place. */
  make(app: App, payloads: never, heard: ReadonlySet<Subscription>): Promise<readonly (readonly EventMessage[])[]>
}

/** Where many events come at once, what they share is looked up once. */
export const sourceOfMany = <E extends keyof Events>(
  event: E,
  wanted: readonly Subscription[],
  make: (app: App, payloads: readonly Events[E][]) => Promise<readonly (readonly EventMessage[])[]>,
): MessageSource => ({ event, wanted, make })

export const source = <E extends keyof Events>(
  event: E,
  wanted: readonly Subscription[],
  make: (app: App, payload: Events[E], heard: ReadonlySet<Subscription>) => Promise<readonly EventMessage[]>,
): MessageSource => ({
  event,
  wanted,
  async make(app, payloads: readonly Events[E][], heard) {
    const made: (readonly EventMessage[])[] = []
    for (const payload of payloads) made.push(await make(app, payload, heard))
    return made
  },
})

/** Puts into a message's body what only git knows. */
export type Complete = (
  app: App,
  message: { readonly project_id: number | null; readonly body: object },
) => Promise<object>

interface ProjectMessage {
  readonly kind: string
  readonly switch: AnySwitch
  readonly project_id: number
  readonly body: object
  /** The branch. */
  readonly ref?: string | null
  /** Hooks of the instance hear the same. */
  readonly to_system?: boolean
  /** False where `complete` is still to come. */
  readonly complete?: boolean
}

/** For hooks of a project and of the groups above it. */
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

/** For hooks of a group and of those above it. */
export const groupMessage = (kind: string, wanted: AnySwitch, group_id: number, body: object): EventMessage => ({
  kind,
  switch: wanted,
  project_id: null,
  group_id,
  to_projects: false,
  to_groups: true,
  to_system: false,
  ref: null,
  body,
  complete: true,
})

/** For every hook of the instance, or those that have the switch on. */
export const instanceMessage = (kind: string, body: object, wanted: AnySwitch | null = null): EventMessage => ({
  kind,
  switch: wanted,
  project_id: null,
  group_id: null,
  to_projects: false,
  to_groups: false,
  to_system: true,
  ref: null,
  body,
  complete: true,
})
