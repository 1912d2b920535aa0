import type { App } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import './model.ts'

const ONLY = 1

export interface KeyCheck {
  /** A value that only the right key decrypts; null if nothing was encrypted yet. */
  readonly sealed: string | null
  readonly isKept: boolean
}

export async function findKeyCheck(db: Db): Promise<KeyCheck> {
  const row = await db.selectFrom('instance_key').select('check_value').executeTakeFirst()
  return row ? { sealed: row.check_value, isKept: true } : { sealed: await anyToken(db), isKept: false }
}

/** A value that was encrypted before the check row existed. */
async function anyToken(db: Db): Promise<string | null> {
  const token = await db
    .selectFrom('access_tokens')
    .select('sealed')
    .where('sealed', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return token?.sealed ?? null
}

/** From now on a wrong key is detected. */
export async function keepKey({ db, vault }: App): Promise<void> {
  const check_value = vault.seal('opened')
  await db
    .insertInto('instance_key')
    .values({ id: ONLY, check_value })
    .onConflict((c) => c.column('id').doUpdateSet({ check_value }))
    .execute()
}
