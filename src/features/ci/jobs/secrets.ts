import type { App, SecretReset } from '../../../context.ts'
import { digestOf, randomToken } from '../../../lib/secrets.ts'
import { unreadableRows } from '../../sealed.ts'
import { newJobToken } from './tokens.ts'

const VALUES = ['ci_variables', 'pipeline_variables', 'pipeline_schedule_variables'] as const
const TOKENS = ['runners', 'pipeline_triggers'] as const

/** Tokens are new, values are gone: of all that pipelines, jobs and runners keep sealed. */
export const replaceCiSecrets: SecretReset = async (app) => {
  await replaceJobTokens(app)
  let values = 0
  for (const table of VALUES)
    for await (const ids of unreadableRows(app, table, 'value_sealed')) {
      values += ids.length
      for (const id of ids)
        await app.db
          .updateTable(table as 'ci_variables')
          .set({ value_sealed: app.vault.seal('') })
          .where('id', '=', id)
          .execute()
    }
  const [runners, triggers] = await Promise.all(TOKENS.map((table) => replaceTokens(app, table)))
  return [
    ...(values > 0 ? [`${values} CI variables have lost their value: it is to be set again`] : []),
    ...(runners! > 0 ? [`${runners} runners have new tokens: they are to be registered again`] : []),
    ...(triggers! > 0 ? [`${triggers} pipeline triggers have new tokens: those in use are of no use`] : []),
  ]
}

/** Jobs that run with an old one are refused, and fail by themselves. */
async function replaceJobTokens(app: App): Promise<void> {
  for await (const ids of unreadableRows(app, 'ci_jobs', 'token_sealed'))
    for (const id of ids) await app.db.updateTable('ci_jobs').set(newJobToken(app.vault)).where('id', '=', id).execute()
}

async function replaceTokens(app: App, table: (typeof TOKENS)[number]): Promise<number> {
  let replaced = 0
  for await (const ids of unreadableRows(app, table, 'token_sealed')) {
    replaced += ids.length
    for (const id of ids) {
      const token = randomToken()
      await app.db
        .updateTable(table as 'runners')
        .set({ token_digest: digestOf(token), token_sealed: app.vault.seal(token) })
        .where('id', '=', id)
        .execute()
    }
  }
  return replaced
}
