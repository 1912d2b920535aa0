import type { App, SecretReset } from '../../../context.ts'
import { digestOf, randomToken } from '../../../lib/crypto/secrets.ts'
import { unreadableRows } from '../../sealed.ts'
import { newJobToken } from './tokens.ts'

/** Replaces tokens and empties variables that pipelines, jobs and runners stored with a lost key. */
export const replaceCiSecrets: SecretReset = async (app) => {
  await replaceJobTokens(app)
  let values = 0
  for await (const ids of unreadableRows(app, 'pipeline_variables', 'value_sealed')) {
    values += ids.length
    for (const id of ids)
      await app.db
        .updateTable('pipeline_variables')
        .set({ value_sealed: app.vault.seal('') })
        .where('id', '=', id)
        .execute()
  }
  const runners = await replaceRunnerTokens(app)
  return [
    ...(values > 0 ? [`${values} variables of pipelines have lost their value`] : []),
    ...(runners > 0 ? [`${runners} runners have new tokens: register them again`] : []),
  ]
}

/** The server rejects running jobs with an old token, so those jobs fail. */
async function replaceJobTokens(app: App): Promise<void> {
  for await (const ids of unreadableRows(app, 'ci_jobs', 'token_sealed'))
    for (const id of ids) await app.db.updateTable('ci_jobs').set(newJobToken(app.vault)).where('id', '=', id).execute()
}

async function replaceRunnerTokens(app: App): Promise<number> {
  let replaced = 0
  for await (const ids of unreadableRows(app, 'runners', 'token_sealed')) {
    replaced += ids.length
    for (const id of ids) {
      const token = randomToken()
      await app.db
        .updateTable('runners')
        .set({ token_digest: digestOf(token), token_sealed: app.vault.seal(token) })
        .where('id', '=', id)
        .execute()
    }
  }
  return replaced
}
