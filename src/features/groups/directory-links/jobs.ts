import { HOUR } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { whileReachable } from '../../identity/users/presence.ts'
import { linkedGroups } from './queries.ts'
import { syncGroup } from './sync.ts'

export const syncMembers = job<{ group_id: number }>('groups.directory_sync', (app, { group_id }) =>
  whileReachable(app, () => syncGroup(app, group_id)),
)

/** The key merges all requests made before the job starts into one run. */
export const requestSync = (app: App, group_id: number): Promise<void> =>
  enqueue(app, syncMembers, { group_id }, { key: `${syncMembers.name} ${group_id}` })

/** For all groups that are linked to any of these directories. */
export async function requestSyncs(app: App, providers: readonly string[]): Promise<void> {
  for (const group of await linkedGroups(app.db, providers)) await requestSync(app, group)
}

export const syncAllMembers = job(
  'groups.directory_sync_all',
  async (app) =>
    requestSyncs(
      app,
      app.directories.map(({ provider }) => provider),
    ),
  { every: HOUR },
)
