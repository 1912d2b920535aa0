import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, id, moment, text } from '../../../api/wire.ts'
import { AuditEventEntity, presentAuditEvent } from './entity.ts'
import { auditEvent, listAuditEvents } from './queries.ts'

export const list = endpoint({
  method: 'GET',
  path: '/audit_events',
  summary: 'List audit events, newest first',
  ...administratorsFirst,
  input: z.object({
    entity_type: text.nullish(),
    entity_id: blankable(id),
    created_after: blankable(moment),
    created_before: blankable(moment),
    id_before: blankable(id),
  }),
  output: pageOf(AuditEventEntity),
  async handle({ app, input, page }) {
    const { items, ...rest } = await listAuditEvents(app.db, input, page)
    return { ...rest, items: items.map(presentAuditEvent) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/audit_events/:audit_event_id',
  summary: 'Get an audit event',
  on: auditEvent,
  ...administratorsFirst,
  output: AuditEventEntity,
  handle: async ({ subject }) => presentAuditEvent(subject),
})
