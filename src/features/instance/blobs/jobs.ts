import { sql } from 'kysely'
import { DAY, HOUR } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'

/** Content is kept once however many hold it: it goes when the last of them has left it. */
export const discardBlob = job<{ digest: string }>('blobs.discard', async (app, { digest }) => {
  if (!(await isReferenced(app, digest))) await app.blobs.remove(digest)
})

/** Not at once: somebody may be uploading the same content right now. */
export async function releaseBlob(app: App, digest: string | null): Promise<void> {
  if (digest) await enqueue(app, discardBlob, { digest }, { delay: HOUR })
}

/** Long enough to find out that a database was put back that is too old. */
const UNNAMED_FOR = 7 * DAY

/** What a process had stored when it was killed, and no row ever came to name. */
export const sweepBlobs = job(
  'blobs.sweep',
  async (app, _payload, signal) => {
    // Files carry the system's time, whatever a test's clock says.
    for await (const digest of findUnnamed(app, new Date(Date.now() - UNNAMED_FOR))) {
      signal?.throwIfAborted()
      await app.blobs.remove(digest)
    }
  },
  { every: DAY, long: true },
)

export async function isReferenced(app: App, digest: string): Promise<boolean> {
  return (await heldAmong(app, [digest])).has(digest)
}

/** Every column that names a blob is asked, each by its index. */
async function heldAmong({ db, blobColumns }: App, digests: readonly string[]): Promise<Set<string>> {
  const holders = blobColumns.map(
    ({ table, column }) =>
      sql`select ${sql.ref(column)} as digest from ${sql.table(table)} where ${sql.ref(column)} in (${sql.join(digests)})`,
  )
  const { rows } = await sql<{ digest: string }>`${sql.join(holders, sql` union `)}`.execute(db)
  return new Set(rows.map(({ digest }) => digest))
}

const BLOBS_A_TURN = 200

/** Blobs stored before that no row names; none where the store cannot list what it has. */
export async function* findUnnamed(app: App, before: Date): AsyncGenerator<string> {
  let turn: string[] = []
  for await (const { digest, modified } of app.blobs.list() ?? []) {
    if (modified < before) turn.push(digest)
    if (turn.length < BLOBS_A_TURN) continue
    yield* await unheldOf(app, turn)
    turn = []
  }
  if (turn.length > 0) yield* await unheldOf(app, turn)
}

async function unheldOf(app: App, digests: readonly string[]): Promise<string[]> {
  const held = await heldAmong(app, digests)
  return digests.filter((digest) => !held.has(digest))
}
