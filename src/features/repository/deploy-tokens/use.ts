import { MINUTE, after, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { DeployToken } from './queries.ts'

const NOTED_EVERY = 10 * MINUTE

/** Runs in the background: the request neither waits for this write nor fails with it. */
export async function noteDeployTokenUse(app: App, { id, last_used_at }: DeployToken): Promise<void> {
  const stale = after(app.clock, -NOTED_EVERY)
  if (app.config.readOnly || (last_used_at !== null && last_used_at > stale)) return
  try {
    await app.db
      .updateTable('deploy_tokens')
      .set({ last_used_at: timestamp(app.clock) })
      .where('id', '=', id)
      // Of many concurrent requests only the first writes.
      .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', stale)]))
      .execute()
  } catch (error) {
    app.log.warn({ err: error, token: id }, 'use of a deploy token was not noted')
  }
}
