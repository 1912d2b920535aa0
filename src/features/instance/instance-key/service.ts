import type { App } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import './model.ts'

const ONLY = 1

export interface KeyCheck {
  /** What only the right key opens; null where nothing was sealed yet. */
  readonly sealed: string | null
  readonly isKept: boolean
}

export async function findKeyCheck(db: Db): Promise<KeyCheck> {
  const row = await db.selectFrom('instance_key').select('check_value').executeTakeFirst()
  return row ? { sealed: row.check_value, isKept: true } : { sealed: await anyToken(db), isKept: false }
}

/** What was sealed before there was a check. */
async function anyToken(db: Db): Promise<string | null> {
  const token = await db
    .selectFrom('access_tokens')
    .select('sealed')
    .where('sealed', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return token?.sealed ?? null
}

/** From now on any other key is noticed. */
export async function keepKey({ db, vault }: App): Promise<void> {
  const check_value = vault.seal('opened')
  await db
    .insertInto('instance_key')
    .values({ id: ONLY, check_value })
    .onConflict((c) => c.column('id').doUpdateSet({ check_value }))
    .execute()
}
