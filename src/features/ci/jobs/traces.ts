/** Logs of jobs: chunks in the store while the job runs, then a blob. */
import { Readable } from 'node:stream'
import type { App } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import type { Job } from './model.ts'

type Logged = Pick<Job, 'id' | 'trace_size' | 'trace_digest'>

const CHUNKS_AT_ONCE = 16

/** The bytes from `start` on, as far as the log has been written. Null if the log was deleted. */
export async function openTrace(app: App, job: Logged, start = 0): Promise<Readable | null> {
  if (job.trace_digest !== null) return (await app.blobs.open(job.trace_digest, { start }))?.stream ?? null
  return Readable.from(chunksOf(app, job, start), { objectMode: false })
}

async function* chunksOf(app: App, { id, trace_size }: Logged, from: number): AsyncGenerator<Buffer> {
  const { db } = app
  let at = from
  while (at < trace_size) {
    const chunks = await db
      .selectFrom('ci_trace_chunks')
      .select(['start', 'content'])
      .where('job_id', '=', id)
      .where('start', '>=', await beginOf({ db }, id, at))
      .where('start', '<', trace_size)
      .orderBy('start')
      .limit(CHUNKS_AT_ONCE)
      .execute()
    const before = at
    for (const { start, content } of chunks) {
      const bytes = Buffer.from(content).subarray(at - start, trace_size - start)
      at += bytes.length
      if (bytes.length > 0) yield bytes
    }
    if (at === before) {
      // The log has become a blob meanwhile.
      yield* await restOf(app, id, at)
      return
    }
  }
}

async function restOf(app: App, id: number, start: number): Promise<AsyncIterable<Buffer>> {
  const job = await app.db.selectFrom('ci_jobs').select('trace_digest').where('id', '=', id).executeTakeFirst()
  const blob = job?.trace_digest ? await app.blobs.open(job.trace_digest, { start }) : null
  return blob?.stream ?? Readable.from([])
}

/** The offset of the chunk that contains this byte. */
async function beginOf({ db }: Pick<App, 'db'>, id: number, at: number): Promise<number> {
  const found = await db
    .selectFrom('ci_trace_chunks')
    .select('start')
    .where('job_id', '=', id)
    .where('start', '<=', at)
    .orderBy('start', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found?.start ?? at
}

/** The last bytes of the log, up to `most`. */
export async function endOfTrace(app: App, job: Logged, most: number): Promise<Buffer> {
  const current = await app.db
    .selectFrom('ci_jobs')
    .select(['id', 'trace_size', 'trace_digest'])
    .where('id', '=', job.id)
    .executeTakeFirst()
  if (!current) return Buffer.alloc(0)
  const stream = await openTrace(app, current, Math.max(0, current.trace_size - most))
  return stream ? Buffer.concat(await stream.toArray()) : Buffer.alloc(0)
}

/** Moves the chunks of a finished job into a blob. Idempotent. */
export async function archiveTrace(app: App, id: number): Promise<void> {
  const job = await app.db
    .selectFrom('ci_jobs')
    .select(['id', 'status', 'trace_size', 'trace_digest'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!job || job.trace_digest !== null || job.trace_size === 0) return
  if (!['success', 'failed', 'canceled'].includes(job.status)) return
  const { digest, size } = await app.blobs.put((await openTrace(app, job))!)
  await transact(app, async (app) => {
    const { numUpdatedRows } = await app.db
      .updateTable('ci_jobs')
      .set({ trace_digest: digest, trace_size: size })
      .where('id', '=', id)
      .where('trace_digest', 'is', null)
      // If the log was erased meanwhile, there is nothing to archive.
      .where('trace_size', '=', job.trace_size)
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await app.db.deleteFrom('ci_trace_chunks').where('job_id', '=', id).execute()
  })
}
