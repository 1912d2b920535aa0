import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'

/** Deletes registration tokens, which are created again on demand, and variables that jobs passed on. */
export const dropRunnerSecrets: SecretReset = async (app) => {
  let dropped = 0
  for await (const ids of unreadableRows(app, 'runner_registration_tokens', 'token_sealed')) {
    dropped += ids.length
    for (const id of ids) await app.db.deleteFrom('runner_registration_tokens').where('id', '=', id).execute()
  }
  for await (const ids of unreadableRows(app, 'ci_job_variables', 'value_sealed'))
    for (const id of ids) await app.db.deleteFrom('ci_job_variables').where('id', '=', id).execute()
  const runs = await app.db.selectFrom('ci_runs').select(['job_id', 'masks_sealed']).execute()
  for (const { job_id, masks_sealed } of runs)
    if (!app.vault.canOpen(masks_sealed)) await app.db.deleteFrom('ci_runs').where('job_id', '=', job_id).execute()
  return dropped > 0 ? [`${dropped} tokens for registering runners are gone: make new ones`] : []
}
