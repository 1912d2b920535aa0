import type { OnUserRemoved } from '../../../context.ts'

/** The successor takes over the events. Without a successor they have no user. */
export const releaseResourceEvents: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor) return
  for (const table of ['resource_label_events', 'resource_state_events', 'resource_milestone_events'] as const) {
    await db.updateTable(table).set({ user_id: successor.id }).where('user_id', '=', id).execute()
  }
}
