import { z } from 'zod'
import { publicPolicy, resource } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { Db, Row } from '../../../store/database.ts'

export const auditEvent = resource({
  name: 'Audit Event',
  params: z.object({ audit_event_id: id }),
  policy: publicPolicy,
  find: (app, { audit_event_id }) =>
    app.db.selectFrom('audit_events').selectAll().where('id', '=', audit_event_id).executeTakeFirst(),
})

export interface Filter {
  entity_type?: string | null | undefined
  entity_id?: number | null | undefined
  created_after?: string | null | undefined
  created_before?: string | null | undefined
  /** The last id of the previous page. */
  id_before?: number | null | undefined
}

/** Newest first, without a total. */
export async function listAuditEvents(
  db: Db,
  { entity_type, entity_id, created_after, created_before, id_before }: Filter,
  { limit, offset }: PageRequest,
): Promise<Page<Row<'audit_events'>>> {
  let query = db.selectFrom('audit_events').selectAll().orderBy('id', 'desc')
  if (entity_type) query = query.where('entity_type', '=', entity_type)
  if (entity_id) query = query.where('entity_id', '=', entity_id)
  if (created_after) query = query.where('created_at', '>=', created_after)
  if (created_before) query = query.where('created_at', '<=', created_before)
  if (id_before) query = query.where('id', '<', id_before)
  const found = await query
    .limit(limit + 1)
    .offset(offset)
    .execute()
  return { items: found.slice(0, limit), total: offset + found.length, more: true }
}
