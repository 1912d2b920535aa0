import { sql } from 'kysely'
import { HOUR } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'

/** Content is kept once however many hold it: it goes when the last of them has left it. */
export const discardBlob = job<{ digest: string }>('blobs.discard', async (app, { digest }) => {
  if (!(await isHeld(app, digest))) await app.blobs.remove(digest)
})

/** Not at once: somebody may be uploading the same content right now. */
export async function leaveBlob(app: App, digest: string | null): Promise<void> {
  if (digest) await enqueue(app, discardBlob, { digest }, { delay: HOUR })
}

/** Every column that names a blob is asked, each by its index. */
export async function isHeld({ db, blobColumns }: App, digest: string): Promise<boolean> {
  const holders = blobColumns.map(
    ({ table, column }) => sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${digest}`,
  )
  const { rows } = await sql`${sql.join(holders, sql` union all `)} limit 1`.execute(db)
  return rows.length > 0
}
