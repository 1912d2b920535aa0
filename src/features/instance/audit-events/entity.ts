import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import type { Details } from './model.ts'

export const AuditEventEntity = entity({
  id: z.int(),
  author_id: z.int(),
  entity_id: z.int().nullable(),
  entity_type: z.string(),
  event_name: z.string(),
  details: entity({
    custom_message: z.string(),
    author_name: z.string(),
    target_id: z.int().nullable(),
    target_type: z.string(),
    target_details: z.string().nullable(),
    entity_path: z.string().nullable(),
    ip_address: z.string(),
    acting_as: z.string().optional(),
    changes: z.array(entity({ change: z.string(), from: z.unknown().optional(), to: z.unknown().optional() })),
  }),
  created_at: timestampOut,
}).meta({ id: 'AuditEvent' })

export function presentAuditEvent(row: Row<'audit_events'>): z.infer<typeof AuditEventEntity> {
  const { custom_message, acting_as, changes = [] } = JSON.parse(row.details) as Details
  return {
    id: row.id,
    author_id: row.author_id,
    entity_id: row.entity_id,
    entity_type: row.entity_type,
    event_name: row.kind,
    details: {
      custom_message,
      author_name: row.author_name,
      target_id: row.entity_id,
      target_type: row.entity_type,
      target_details: row.entity_path,
      entity_path: row.entity_path,
      ip_address: row.ip_address,
      ...(acting_as !== undefined && { acting_as }),
      changes: [...changes],
    },
    created_at: row.created_at,
  }
}
