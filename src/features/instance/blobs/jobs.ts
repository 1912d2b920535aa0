import { sql } from 'kysely'
import { DAY, HOUR } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'

/** Equal content is stored once, however many rows refer to it. It is deleted when the last reference is released. */
export const discardBlob = job<{ digest: string }>('blobs.discard', async (app, { digest }) => {
  if (!(await isReferenced(app, digest))) await app.blobs.remove(digest)
})

/** Delayed, because another request may be uploading the same content right now. */
export async function releaseBlob(app: App, digest: string | null): Promise<void> {
  if (digest) await enqueue(app, discardBlob, { digest }, { delay: HOUR })
}

/** Long enough to notice that a restored database backup is too old. */
const UNNAMED_FOR = 7 * DAY

/** Deletes blobs that a killed process stored and no row ever referred to. */
export const sweepBlobs = job(
  'blobs.sweep',
  async (app, _payload, signal) => {
    // Files have the system's time, even if a test sets another clock.
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

/** Queries every column that refers to blobs, each by its index. */
async function heldAmong({ db, blobColumns }: App, digests: readonly string[]): Promise<Set<string>> {
  const holders = blobColumns.map(
    ({ table, column }) =>
      sql`select ${sql.ref(column)} as digest from ${sql.table(table)} where ${sql.ref(column)} in (${sql.join(digests)})`,
  )
  const { rows } = await sql<{ digest: string }>`${sql.join(holders, sql` union `)}`.execute(db)
  return new Set(rows.map(({ digest }) => digest))
}

const BLOBS_A_TURN = 200

/** Blobs stored before `before` that no row refers to; none if the blob store cannot list its contents. */
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
