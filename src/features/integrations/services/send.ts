/** The entry point for deliveries: finds the services of a project that receive a message, and sends to one. */
import type { App } from '../../../context.ts'
import type { OutgoingAnswer } from '../../../outbound/client.ts'
import { VERSION } from '../../../version.ts'
import { findNamespaceById, findProjectById, pathWithNamespace, webUrlOf } from '../../projects/projects/queries.ts'
import { isProtected } from '../../repository/protected-branches/matching.ts'
import { findProtection } from '../../repository/protected-branches/queries.ts'
import { ask } from './asking.ts'
import type { Service } from './declare.ts'
import { KINDS, asksForProtection, branchOf, eventFor, isInterested, passesFilters } from './filters.ts'
import type { ServiceEvent, ServiceRow } from './model.ts'
import { effectiveServices } from './queries.ts'
import { serviceOf } from './registry.ts'
import { settingsOf } from './settings.ts'
import type { Payload, ServicePayload, PayloadProject } from './payload.ts'

export interface ServiceMessage {
  readonly kind: string
  readonly body: unknown
  readonly project_id: number
}

/** The services of the project or, where it has none of its own, of its groups. One query. */
export async function interestedServices(app: App, project_id: number, kind: string): Promise<ServiceRow[]> {
  const found = await effectiveServices(app.db, { project_id, group_id: null })
  return [...found.values()].flatMap(({ row }) =>
    row.active && isInterested(serviceOf(row.slug)!, row, kind) ? [row] : [],
  )
}

/** The message switches that any active service of the project needs. One query. */
export async function activeSwitches(app: App, project_id: number): Promise<ReadonlySet<string>> {
  const found = await effectiveServices(app.db, { project_id, group_id: null })
  const active = [...found.values()].flatMap(({ row }) => (row.active ? [row] : []))
  const kinds = KINDS.filter((kind) => active.some((row) => isInterested(serviceOf(row.slug)!, row, kind)))
  return new Set(kinds.flatMap((kind) => SWITCHES_OF[kind] ?? []))
}

/** The switches of webhooks, by kind of message. */
const SWITCHES_OF: Readonly<Record<string, readonly string[]>> = {
  push: ['push_events'],
  tag_push: ['tag_push_events'],
  issue: ['issues_events', 'confidential_issues_events'],
  merge_request: ['merge_requests_events'],
  note: ['note_events', 'confidential_note_events'],
  build: ['job_events'],
  pipeline: ['pipeline_events'],
  wiki_page: ['wiki_page_events'],
  deployment: ['deployment_events'],
}

/**
 * Sends a message to a service. Null: the message is not for the service, or the service gives no answer. An exception
 * means a retry; a permanent rejection is returned as the answer.
 */
export async function sendToService(
  app: App,
  row: ServiceRow,
  { kind, body, project_id }: ServiceMessage,
): Promise<OutgoingAnswer | null> {
  const service = serviceOf(row.slug)
  const event = service && row.active ? eventFor(service, row, kind, body as Payload) : null
  const project = event && (await payloadProject(app, project_id))
  if (!service || !event || !project) return null
  const payload = servicePayload(app, service, row, { event, body: body as Payload, project })
  const branch = asksForProtection(payload) ? branchOf(payload) : null
  if (!passesFilters(payload, branch !== null && (await isProtectedBranch(app, project_id, branch)))) return null
  return sendPayload(app, service, payload)
}

const isProtectedBranch = async (app: App, project: number, branch: string) =>
  isProtected(await findProtection(app.db, project, 'branch'), branch)

export async function sendPayload(app: App, service: Service, payload: ServicePayload): Promise<OutgoingAnswer | null> {
  await service.deliver?.(app, payload)
  let answer: OutgoingAnswer | null = null
  for (const request of service.requests?.(payload) ?? []) {
    answer = await ask(app, request)
    // The following requests would be rejected, too.
    if (answer.status >= 400) return answer
  }
  return answer
}

export function servicePayload(
  app: App,
  service: Service,
  row: ServiceRow,
  about: { readonly event: ServiceEvent; readonly body: Payload; readonly project: PayloadProject },
): ServicePayload {
  return {
    ...about,
    settings: settingsOf(app, service, row),
    instance: { url: app.url, version: VERSION },
    comments: row.comment_on_event_enabled,
  }
}

export async function payloadProject(app: App, id: number): Promise<PayloadProject | null> {
  const project = await findProjectById(app.db, id)
  const namespace = project && (await findNamespaceById(app.db, project.namespace_id))
  if (!namespace) return null
  return {
    id,
    name: project.name,
    name_with_namespace: `${namespace.full_name} / ${project.name}`,
    path: project.path,
    namespace: namespace.full_path,
    path_with_namespace: pathWithNamespace(project, namespace),
    web_url: webUrlOf(app, { project, namespace }),
    default_branch: project.default_branch,
  }
}
