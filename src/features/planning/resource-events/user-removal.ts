import type { OnUserRemoved } from '../../../context.ts'

/** What was done stays done; without an heir nobody did it. */
export const releaseResourceEvents: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor) return
  for (const table of ['resource_label_events', 'resource_state_events', 'resource_milestone_events'] as const) {
    await db.updateTable(table).set({ user_id: successor.id }).where('user_id', '=', id).execute()
  }
}
