/** When a credential was last used, to within ten minutes: the owner can spot uses that were not theirs. */
import { MINUTE, after, timestamp } from '../../clock.ts'
import type { App } from '../../context.ts'

const NOTED_EVERY = 10 * MINUTE

interface Used {
  readonly id: number
  readonly last_used_at: string | null
}

/** Never in read-only mode. */
export const isUnnoted = ({ clock, config }: App, { last_used_at: last }: Pick<Used, 'last_used_at'>): boolean =>
  !config.readOnly && (last === null || clock.now().getTime() - Date.parse(last) >= NOTED_EVERY)

/** Of many concurrent requests the first one writes: a last use before this moment must be updated. */
export const staleUse = ({ clock }: App): string => after(clock, -NOTED_EVERY)

/** Runs apart from the request, which neither waits for the write nor fails with it. */
export function noteUse(app: App, table: 'sessions' | 'oauth_tokens', used: Used): void {
  if (isUnnoted(app, used)) void writeUse(app, table, used)
}

async function writeUse(app: App, table: 'sessions' | 'oauth_tokens', { id }: Used): Promise<void> {
  try {
    await app.db
      .updateTable(table)
      .set({ last_used_at: timestamp(app.clock) })
      .where('id', '=', id)
      .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', staleUse(app))]))
      .execute()
  } catch (error) {
    app.log.warn({ err: error, [table]: id }, 'use of a credential was not noted')
  }
}
