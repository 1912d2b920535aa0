import type { AuditedCall, RecordAuditEvent } from '../../../api/audit.ts'
import { Json } from '../../../api/json.ts'
import { timestamp } from '../../../clock.ts'
import type { Change, Details } from './model.ts'

/** The values of fields with such names are not stored, except booleans; only the fact that they changed is. */
const SECRET = /password|token|secret|key|dsn|credential|sealed|digest|url|payload|content/i
const LONGEST_VALUE = 500

type Fields = Readonly<Record<string, unknown>>

/** Entity types by the path segments of the API. */
const TYPES: Fields = {
  users: 'User',
  projects: 'Project',
  groups: 'Group',
  runners: 'Ci::Runner',
  hooks: 'SystemHook',
  application: 'ApplicationSetting',
  applications: 'Doorkeeper::Application',
  broadcast_messages: 'BroadcastMessage',
  features: 'Feature',
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** The record itself, wherever the resource has it. */
function recordOf(subject: unknown): Fields {
  if (!isFields(subject)) return {}
  const inside = subject.user ?? subject.owner ?? subject.project ?? subject.group ?? subject.profile
  return isFields(inside) ? inside : subject
}

function targetOf(record: Fields) {
  const path = record.username ?? record.full_path ?? record.path_with_namespace ?? record.name ?? record.title
  return {
    entity_id: typeof record.id === 'number' ? record.id : null,
    entity_path: typeof path === 'string' ? path : null,
  }
}

function typeOf(path: string): string {
  const [, first = ''] = path.split('/')
  const known = TYPES[first]
  return typeof known === 'string'
    ? known
    : first.replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase())
}

const short = (value: unknown): unknown => {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : value
}

/**
 * In a call as another user (sudo) the values belong to that user, so only the names of the fields are stored. The same
 * holds for texts that the record does not show: no list can name every secret field.
 */
function changesOf({ endpoint, input, before, subject }: AuditedCall): Change[] {
  const isTheirs = endpoint.allow !== 'administrator'
  const known = { ...recordOf(subject), ...before }
  return Object.entries(input)
    .filter(([, to]) => to !== undefined)
    .filter(([name, to]) => !(name in known) || JSON.stringify(known[name]) !== JSON.stringify(to))
    .map(([change, to]) => {
      const isPlain = change in known || typeof to === 'boolean' || typeof to === 'number'
      const isSecret = SECRET.test(change) && typeof to !== 'boolean'
      if (isTheirs || !isPlain || isSecret) return { change }
      return { change, ...(change in known && { from: short(known[change]) }), to: short(to) }
    })
}

export const recordAuditEvent: RecordAuditEvent = async ({ db, clock }, auditedCall) => {
  const { by, as, address, endpoint, subject } = auditedCall
  const details: Details = {
    custom_message: endpoint.summary,
    ...(as && { acting_as: as.username }),
    changes: changesOf(auditedCall),
  }
  const target = targetOf(recordOf(subject))
  const { id } = await db
    .insertInto('audit_events')
    .values({
      author_id: by.id,
      author_name: by.name,
      kind: `${endpoint.method} ${endpoint.path}`,
      entity_type: typeOf(endpoint.path),
      ...target,
      ip_address: address,
      details: JSON.stringify(details),
      created_at: timestamp(clock),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return async ({ db }, result) => {
    // A created record has its id and path only now.
    const made: unknown = result instanceof Json ? result.value : result
    if (target.entity_id !== null || !isFields(made)) return
    const { entity_id, entity_path } = targetOf(made)
    if (entity_id === null) return
    await db.updateTable('audit_events').set({ entity_id, entity_path }).where('id', '=', id).execute()
  }
}
