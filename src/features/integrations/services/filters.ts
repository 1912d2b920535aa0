/** Decides which messages a service receives, by its switches, branches and pipelines. Pure functions. */
import type { Service } from './declare.ts'
import type { ServiceEvent, ServiceRow, ServiceSwitch } from './model.ts'
import { nameOfRef, type Payload, type ServicePayload } from './payload.ts'

const SWITCH_OF: Record<ServiceEvent, ServiceSwitch> = {
  push: 'push_events',
  tag_push: 'tag_push_events',
  issue: 'issues_events',
  confidential_issue: 'confidential_issues_events',
  incident: 'incident_events',
  merge_request: 'merge_requests_events',
  note: 'note_events',
  confidential_note: 'confidential_note_events',
  commit: 'commit_events',
  job: 'job_events',
  pipeline: 'pipeline_events',
  wiki_page: 'wiki_page_events',
  deployment: 'deployment_events',
}

/** The service events of each kind of message, the most specific first. */
const EVENTS_OF: Readonly<Record<string, readonly ServiceEvent[]>> = {
  push: ['push', 'commit'],
  tag_push: ['tag_push'],
  issue: ['confidential_issue', 'incident', 'issue'],
  confidential_issue: ['confidential_issue'],
  merge_request: ['merge_request'],
  note: ['confidential_note', 'note'],
  confidential_note: ['confidential_note'],
  build: ['job'],
  job: ['job'],
  pipeline: ['pipeline'],
  wiki_page: ['wiki_page'],
  deployment: ['deployment'],
}

export const KINDS: readonly string[] = Object.keys(EVENTS_OF)

const isOn = (row: ServiceRow, event: ServiceEvent) => row[SWITCH_OF[event]]

/** Whether the service may receive any message of the kind. */
export const isInterested = ({ events, gone, requests, deliver }: Service, row: ServiceRow, kind: string): boolean =>
  gone === undefined &&
  (requests ?? deliver) !== undefined &&
  (EVENTS_OF[kind] ?? []).some((event) => events.includes(event) && isOn(row, event))

const isConfidential = ({ event_type, object_attributes, issue }: Payload): boolean =>
  (event_type ?? '').startsWith('confidential_') ||
  object_attributes?.confidential === true ||
  object_attributes?.internal === true ||
  issue?.confidential === true

/** The event that this message is for the service. Null: not for it. */
export function eventFor({ events }: Service, row: ServiceRow, kind: string, body: Payload): ServiceEvent | null {
  const possible = EVENTS_OF[kind] ?? []
  // A confidential record never goes out as an ordinary event.
  const secret = possible.find((event) => event.startsWith('confidential_'))
  if (secret && (kind.startsWith('confidential_') || isConfidential(body))) {
    return events.includes(secret) && isOn(row, secret) ? secret : null
  }
  const isIncident = body.object_attributes?.type?.toLowerCase() === 'incident'
  const found = possible.find(
    (event) => event !== secret && (event !== 'incident' || isIncident) && events.includes(event),
  )
  return found && isOn(row, found) ? found : null
}

/** The branch of a message; null if it has none. */
export function branchOf({ event, body }: Pick<ServicePayload, 'event' | 'body'>): string | null {
  if (event === 'push') return nameOfRef(body.ref)
  if (event !== 'pipeline' || body.object_attributes?.tag) return null
  return nameOfRef(body.object_attributes?.ref)
}

/** Whether the filter depends on branch protection. */
export const asksForProtection = ({ settings }: Pick<ServicePayload, 'settings'>): boolean =>
  ['protected', 'default_and_protected'].includes(String(settings.branches_to_be_notified))

export function passesFilters(
  payload: Pick<ServicePayload, 'event' | 'body' | 'settings' | 'project'>,
  isProtected: boolean,
): boolean {
  const { event, body, settings, project } = payload
  const isPassed = event === 'pipeline' && body.object_attributes?.status === 'success'
  if (isPassed && settings.notify_only_broken_pipelines === true) return false
  const branch = branchOf(payload)
  if (branch === null) return true
  const isDefault = branch === project.default_branch
  switch (settings.branches_to_be_notified) {
    case 'default':
      return isDefault
    case 'protected':
      return isProtected
    case 'default_and_protected':
      return isDefault || isProtected
    default:
      return true
  }
}
