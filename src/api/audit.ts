/**
 * The audit log of administrators: every write that requires an administrator, every write as another user (sudo), and
 * every call of an endpoint that asks for it.
 * The event is written in the first transaction of the handler, so that neither exists without the other.
 */
import type { App, User } from '../context.ts'
import type { Caller } from './credentials.ts'
import type { Context, Endpoint } from './endpoint.ts'
import type { Raw } from './input.ts'

export interface AuditedCall {
  readonly by: User
  /** The user they acted as. */
  readonly as: User | null
  readonly address: string
  readonly endpoint: Endpoint
  readonly subject: unknown
  readonly input: Raw
  /** The previous values that the endpoint reports. */
  readonly before: Readonly<Record<string, unknown>>
}

/** Returns a function that adds the result to the event, once it is known. */
export type RecordAuditEvent = (
  app: App,
  auditedCall: AuditedCall,
) => Promise<(app: App, result: unknown) => Promise<void>>

type AnyContext = Context<Raw, unknown, User | null>

function authorOf(endpoint: Endpoint, { identity }: Caller, viewer: User | null): User | null {
  if (endpoint.audited) return identity?.user ?? null
  if (endpoint.method === 'GET' || !identity?.user.admin) return null
  return endpoint.allow === 'administrator' || identity.user.id !== viewer?.id ? identity.user : null
}

export async function handleAudited(note: RecordAuditEvent | undefined, endpoint: Endpoint, context: AnyContext) {
  const { app, viewer, caller, subject, input } = context
  const by = note ? authorOf(endpoint, caller, viewer) : null
  if (!note || !by) return endpoint.handle(context as never)
  const before = { ...(await endpoint.before?.(app)) }
  const as = viewer && viewer.id !== by.id ? viewer : null
  const auditedCall: AuditedCall = { by, as, address: caller.address, endpoint, subject, input, before }
  const noted: { tell?: Awaited<ReturnType<RecordAuditEvent>> } = {}
  const beforeCommit = async (inner: App) => {
    if (noted.tell) return
    const tell = await note(inner, auditedCall)
    inner.onCommit(() => (noted.tell ??= tell))
  }
  const result = await endpoint.handle({ ...context, app: { ...app, beforeCommit } } as never)
  const tell = noted.tell ?? (await note(app, auditedCall))
  await tell(app, result)
  return result
}
