import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { Answer, endpoint, type AnyResource } from '../../../api/endpoint.ts'
import { scopesOf, presentedCredential, type Caller } from '../../../api/credentials.ts'
import { readQuery } from '../../../api/input.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { limitedCaller } from '../../../lib/async/limiter.ts'
import { group } from '../../groups/groups/queries.ts'
import { authentication } from '../../identity/authentication.ts'
import { findUser } from '../../identity/users/queries.ts'
import { project } from '../../projects/projects/queries.ts'
import type { LiveScope } from './deliver.ts'
import { hubOf, type Connection } from './hub.ts'
import { EventStream } from './stream.ts'

/**
 * Browsers send the header themselves when they reconnect. The parameter is for other clients that continue from an
 * event.
 */
const input = z.object({ last_event_id: text.nullish() })
const output = z.string().meta({ format: 'event-stream' })

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // Without this header a proxy would buffer the stream.
  'X-Accel-Buffering': 'no',
}

interface Session {
  readonly app: App
  readonly viewer: User | null
  readonly caller: Caller
  readonly request: IncomingMessage
  readonly isHead: boolean
  readonly input: { last_event_id?: string | null | undefined }
}

function sinceOf({ headers }: IncomingMessage, given: string | null | undefined): number | 'now' | 'unknown' {
  const header = headers['last-event-id']
  const lastId = (typeof header === 'string' && header) || given || null
  if (lastId === null) return 'now'
  return /^\d{1,15}$/.test(lastId) ? Number(lastId) : 'unknown'
}

const OPENING = scopesOf({ method: 'GET' })

/** Checks the credential of the request again. Null if it no longer opens the stream. */
async function recognise({ app, caller, viewer, request }: Session): Promise<User | null> {
  const shown = presentedCredential(request, readQuery(request.url!))
  const identity = shown && (await authentication.identify(app, shown, caller.address))
  if (!identity || !(identity.scopes?.some((scope) => OPENING.includes(scope)) ?? true)) return null
  if (identity.user.id === viewer!.id) return identity.user
  // The caller acts for another user (sudo).
  return identity.user.admin ? findUser(app.db, viewer!.id) : null
}

function answerLive(pageRequest: Session, scope: LiveScope, on: AnyResource | null): Answer {
  const { app, viewer, caller, request, isHead } = pageRequest
  const stream = new EventStream()
  if (isHead) return new Answer(200, stream, HEADERS)
  const connection: Connection = {
    scope,
    viewer: viewer?.id ?? null,
    caller: limitedCaller(viewer?.id, caller.address),
    stream,
    async isAllowed() {
      const now = viewer && (await recognise(pageRequest))
      if (viewer && now?.state !== 'active') return false
      if (!on) return true
      const id = String('project' in scope ? scope.project : (scope as { group: number }).group)
      const subject = await on.find(app, { id } as never, now)
      return subject !== null && subject !== undefined && on.policy.read!(subject)
    },
  }
  const hub = hubOf(app)
  hub.admit(connection)
  const stays = request.headers.accept?.includes('text/event-stream') ?? false
  hub.join(connection, sinceOf(request, pageRequest.input.last_event_id), { stays }).catch((error: unknown) => {
    app.log.error({ err: error, part: 'live' }, 'a listener could not be served')
    stream.destroy()
  })
  return new Answer(200, stream, HEADERS)
}

export const ofProject = endpoint({
  method: 'GET',
  path: '/projects/:id/live',
  summary: 'Stream events of a project as server-sent events',
  on: project,
  allow: 'read',
  by: 'visitor',
  input,
  output,
  async handle(context) {
    return answerLive(context, { project: context.subject.project.id }, project as unknown as AnyResource)
  },
})

export const ofGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/live',
  summary: 'Stream events of a group and its projects as server-sent events',
  on: group,
  allow: 'read',
  by: 'visitor',
  input,
  output,
  async handle(context) {
    return answerLive(context, { group: context.subject.group.id }, group as unknown as AnyResource)
  },
})

export const ofUser = endpoint({
  method: 'GET',
  path: '/user/live',
  summary: 'Stream events of your projects and to-dos as server-sent events',
  allow: 'signed_in',
  input,
  output,
  async handle(context) {
    return answerLive(context, { user: context.viewer.id }, null)
  },
})
