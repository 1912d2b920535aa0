import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'

const SEALED = {
  token_sealed: 'secret token: set it',
  signing_token_sealed: 'signing token: set it',
  url_variables_sealed: 'URL variables: set them',
  custom_headers_sealed: 'custom headers: set them',
} as const

/** The server cannot generate new secrets for hooks: only their receivers know the values. */
export const dropHookSecrets: SecretReset = async (app) => {
  const lines: string[] = []
  for (const [column, lost] of Object.entries(SEALED) as [keyof typeof SEALED, string][]) {
    let dropped = 0
    for await (const ids of unreadableRows(app, 'hooks', column)) {
      dropped += ids.length
      for (const id of ids)
        await app.db
          .updateTable('hooks')
          .set({ [column]: null })
          .where('id', '=', id)
          .execute()
    }
    if (dropped > 0) lines.push(`${dropped} webhooks lost their ${lost} again`)
  }
  return lines
}
