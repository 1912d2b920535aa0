/**
 * Receives the log of a running job. Appends only at the current end, masks secrets, and rewrites a chunk only while
 * the chunk is small.
 */
import { crc32 } from 'node:zlib'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import type { Job } from '../jobs/model.ts'
import { maskIn, reachOf, secretsFrom } from './masking.ts'

/** The size limit of one patch. */
export const LARGEST_PATCH = 1024 * 1024
/** A larger chunk is not rewritten. */
const SMALL_PIECE = 64 * 1024

export type Appended =
  | { readonly outcome: 'appended' | 'mismatch'; readonly size: number }
  | { readonly outcome: 'too_large' | 'over'; readonly size: number }

export function appendTrace(
  app: App,
  { id }: Pick<Job, 'id'>,
  patch: { readonly start: number; readonly bytes: Buffer },
  limit: number,
): Promise<Appended> {
  return transact(app, async (app) => {
    const { db } = app
    const row = await db
      .selectFrom('ci_jobs')
      .leftJoin('ci_runs', 'ci_runs.job_id', 'ci_jobs.id')
      .select(['trace_size', 'status', 'erased_at', 'masks_sealed', 'trace_crc'])
      .where('id', '=', id)
      .executeTakeFirst()
    const size = row?.trace_size ?? 0
    if (!row || !['running', 'canceling'].includes(row.status) || row.erased_at) return { outcome: 'over', size }
    if (patch.start !== size) return { outcome: 'mismatch', size }
    const after = size + patch.bytes.length
    if (after > limit) return { outcome: 'too_large', size }
    if (patch.bytes.length === 0) return { outcome: 'appended', size }
    // If two requests write at once, the other one has moved the end meanwhile.
    const { numUpdatedRows } = await db
      .updateTable('ci_jobs')
      .set({ trace_size: after, contacted_at: timestamp(app.clock), updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .where('trace_size', '=', size)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return { outcome: 'mismatch', size: await sizeOf(app, id) }
    const masks = row.masks_sealed === null ? [] : (JSON.parse(app.vault.open(row.masks_sealed)) as string[])
    await write(app, id, { start: size, bytes: patch.bytes }, secretsFrom(masks))
    const trace_crc = crc32(patch.bytes, row.trace_crc ?? 0)
    await db.updateTable('ci_runs').set({ trace_crc, holder: null }).where('job_id', '=', id).execute()
    return { outcome: 'appended', size: after }
  })
}

async function sizeOf({ db }: App, id: number): Promise<number> {
  const row = await db.selectFrom('ci_jobs').select('trace_size').where('id', '=', id).executeTakeFirst()
  return row?.trace_size ?? 0
}

async function write(
  { db }: App,
  job_id: number,
  { start, bytes }: { start: number; bytes: Buffer },
  secrets: readonly Buffer[],
): Promise<void> {
  const pieces = await tailOf(db, job_id, Math.max(0, start - reachOf(secrets)))
  const last = pieces.at(-1)
  const isSmall = last !== undefined && start - last.start + bytes.length <= SMALL_PIECE
  // A secret may start in the stored part of the log.
  const begin = pieces[0]?.start ?? start
  const whole = Buffer.concat([...pieces.map(({ content }) => content), bytes])
  const masked = Buffer.from(whole)
  maskIn(masked, secrets)
  const from = isSmall ? last.start : start
  for (const piece of pieces) {
    if (isSmall && piece === last) continue
    const at = piece.start - begin
    const now = masked.subarray(at, at + piece.content.length)
    if (!now.equals(piece.content)) await put(db, job_id, piece.start, now)
  }
  await put(db, job_id, from, masked.subarray(from - begin))
}

/** The chunk that contains that byte, and all chunks after it. */
async function tailOf(db: App['db'], job_id: number, at: number): Promise<{ start: number; content: Buffer }[]> {
  const first = await db
    .selectFrom('ci_trace_chunks')
    .select((eb) => eb.fn.max<number | null>('start').as('start'))
    .where('job_id', '=', job_id)
    .where('start', '<=', at)
    .executeTakeFirst()
  const rows = await db
    .selectFrom('ci_trace_chunks')
    .select(['start', 'content'])
    .where('job_id', '=', job_id)
    .where('start', '>=', first?.start ?? 0)
    .orderBy('start')
    .execute()
  return rows.map(({ start, content }) => ({ start, content: Buffer.from(content) }))
}

async function put(db: App['db'], job_id: number, start: number, content: Buffer): Promise<void> {
  await db
    .insertInto('ci_trace_chunks')
    .values({ job_id, start, content })
    .onConflict((conflict) => conflict.columns(['job_id', 'start']).doUpdateSet({ content }))
    .execute()
}

export interface Checksum {
  /** `crc32:0123abcd`, as the runner computes it. */
  readonly checksum?: string | null | undefined
  readonly bytesize?: number | null | undefined
}

const MOST_RESETS = 3

/**
 * False: the log differs from the one that the runner sent. The server deletes its copy, and the runner sends the whole
 * log again.
 */
export function isTraceWhole(app: App, { id }: Pick<Job, 'id'>, { checksum, bytesize }: Checksum): Promise<boolean> {
  return transact(app, async ({ db, clock }) => {
    const [, expected] = /^crc32:([0-9a-f]{8})$/.exec(checksum ?? '') ?? []
    if (expected === undefined) return true
    const run = await db
      .selectFrom('ci_jobs')
      .innerJoin('ci_runs', 'ci_runs.job_id', 'ci_jobs.id')
      .select(['trace_size', 'trace_crc', 'trace_resets'])
      .where('id', '=', id)
      .where('status', 'in', ['running', 'canceling'])
      .executeTakeFirst()
    if (!run || run.trace_resets >= MOST_RESETS) return true
    const isSame = run.trace_crc === Number.parseInt(expected, 16) && (bytesize ?? run.trace_size) === run.trace_size
    if (isSame) return true
    await db.deleteFrom('ci_trace_chunks').where('job_id', '=', id).execute()
    await db
      .updateTable('ci_jobs')
      .set({ trace_size: 0, updated_at: timestamp(clock) })
      .where('id', '=', id)
      .execute()
    await db
      .updateTable('ci_runs')
      .set({ trace_crc: 0, trace_resets: run.trace_resets + 1 })
      .where('job_id', '=', id)
      .execute()
    return false
  })
}
