import type { Farewell } from '../../../context.ts'

/** What they wrote stays and is the heir's; without one it goes. */
export const leaveIssues: Farewell = async ({ db }, { id }, { heir }) => {
  if (!heir) return void (await db.deleteFrom('issues').where('author_id', '=', id).execute())
  await db.updateTable('issues').set({ author_id: heir.id }).where('author_id', '=', id).execute()
  await db.updateTable('issues').set({ closed_by_id: heir.id }).where('closed_by_id', '=', id).execute()
  for (const events of ['resource_label_events', 'resource_state_events', 'resource_milestone_events'] as const)
    await db.updateTable(events).set({ user_id: heir.id }).where('user_id', '=', id).execute()
}
