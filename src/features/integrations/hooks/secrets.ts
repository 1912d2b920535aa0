import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'

/** Only who receives a hook knows its token, so it cannot be another. */
export const dropHookTokens: SecretReset = async (app) => {
  let dropped = 0
  for await (const ids of unreadableRows(app, 'project_hooks', 'token_sealed')) {
    dropped += ids.length
    for (const id of ids)
      await app.db.updateTable('project_hooks').set({ token_sealed: null }).where('id', '=', id).execute()
  }
  return dropped > 0 ? [`${dropped} hooks have lost their token: it is to be set again`] : []
}
