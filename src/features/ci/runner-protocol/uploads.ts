/** Receives artifacts from runners, straight into the blob store with constant memory. */
import type { IncomingMessage } from 'node:http'
import { basename } from 'node:path/posix'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { after, timestamp } from '../../../clock.ts'
import { parseSpan } from '../../../ci/config/durations.ts'
import type { App } from '../../../context.ts'
import { Refusal, badParameter } from '../../../errors.ts'
import { BadZip, openZip } from '../../../lib/zip/reader.ts'
import { isSystemError } from '../../../lib/files/system-errors.ts'
import type { Blob } from '../../../store/blobs/blobs.ts'
import { transact } from '../../../store/transact.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import { loadLimits } from '../../instance/plan-limits/queries.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { isAlive } from '../job-tokens/queries.ts'
import type { Artifact, Job } from '../jobs/model.ts'
import { optionsOf } from '../jobs/options.ts'
import { jobOver } from './credentials.ts'
import { dotenvIn, LARGEST_DOTENV, tooBig, type DotenvVariable } from './dotenv.ts'

const MB = 1024 * 1024
const DEADLINE_MS = 3_600_000

export const largestUpload = async (app: App): Promise<number> => (await currentSettings(app)).max_artifacts_size * MB

interface Sent {
  readonly blob: Blob
  readonly filename: string
}

/** The size limit of the form around a file. */
const FORM_BYTES = 64 * 1024

/** Reads the part `file` of a form whose length is unknown until its end. */
export async function receiveFile(app: App, request: IncomingMessage): Promise<Sent> {
  if (!/^multipart\/form-data/i.test(request.headers['content-type'] ?? '')) throw missingFile()
  const limit = await largestUpload(app)
  if (Number(request.headers['content-length'] ?? 0) > limit + FORM_BYTES) throw new Refusal('too_large')
  const { promise, resolve, reject } = Promise.withResolvers<Sent>()
  const late = setTimeout(() => request.destroy(), DEADLINE_MS).unref()
  let isFound = false
  let parser: InstanceType<typeof Busboy>
  try {
    parser = new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { fieldSize: 64 * 1024, fields: 100, files: 2, parts: 100 },
    })
  } catch {
    throw missingFile()
  }
  parser.on('file', (name, stream: Readable, filename) => {
    stream.on('error', reject)
    if (name !== 'file' || isFound) return void stream.resume()
    isFound = true
    app.blobs.put(stream, { limit }).then((blob) => resolve({ blob, filename: nameOf(filename ?? '') }), reject)
  })
  parser.on('error', reject)
  parser.on('finish', () => isFound || reject(missingFile()))
  request.on('aborted', () => reject(badParameter('400 Bad Request')))
  request.pipe(parser)
  try {
    const sent = await promise
    await ended(request).catch(async (error: unknown) => {
      await releaseBlob(app, sent.blob.digest)
      throw error
    })
    return sent
  } catch (error) {
    throw error instanceof Refusal || isSystemError(error) ? error : badParameter('400 Bad Request')
  } finally {
    clearTimeout(late)
    request.unpipe(parser).resume()
  }
}

/** Rejects a form that is cut off after its file. */
async function ended(request: IncomingMessage): Promise<void> {
  if (request.complete) return
  await new Promise<void>((resolve, reject) => {
    request.once('end', resolve)
    request.once('close', () => (request.complete ? resolve() : reject(badParameter('400 Bad Request'))))
  })
}

const missingFile = () => bad('Missing artifacts file!')

/** Reduces the name that a runner sends to a plain file name. */
function nameOf(filename: string): string {
  const plain = basename(filename.replaceAll('\\', '/').toWellFormed())
  // oxlint-disable-next-line no-control-regex -- they are what is taken out
  const clean = plain.replaceAll(/[\u0000-\u001f\u007f]/g, '').slice(0, 255)
  return clean === '' || clean === '.' || clean === '..' ? 'artifacts' : clean
}

export interface UploadInput {
  readonly type: string
  readonly format: Artifact['file_format']
  readonly expire_in?: string | null | undefined
}

export async function keepUpload(app: App, job: Job, sent: Sent, input: UploadInput): Promise<void> {
  const { blob, filename } = sent
  if (input.type === 'archive' || input.format === 'zip') await assertZip(app, blob)
  const variables = input.type === 'dotenv' ? await readDotenv(app, blob, input.format) : []
  const expire_at = await expiryOf(app, job, input.expire_in)
  await transact(app, async (app) => {
    const { db } = app
    const current = await db.selectFrom('ci_jobs').selectAll().where('id', '=', job.id).executeTakeFirst()
    if (!current || !isAlive(current)) throw jobOver(current ?? job)
    const known = await db
      .selectFrom('ci_artifacts')
      .select('digest')
      .where('job_id', '=', job.id)
      .where('file_type', '=', input.type)
      .executeTakeFirst()
    if (known?.digest === blob.digest) return
    if (known) throw bad('another artifact of the same type already exists')
    await db
      .insertInto('ci_artifacts')
      .values({
        job_id: job.id,
        project_id: job.project_id,
        file_type: input.type,
        file_format: input.format,
        filename,
        size: blob.size,
        digest: blob.digest,
        expire_at,
        created_at: timestamp(app.clock),
      })
      .execute()
    if (input.type === 'archive')
      await db.updateTable('ci_jobs').set({ artifacts_expire_at: expire_at }).where('id', '=', job.id).execute()
    for (const { key, value } of variables) {
      const value_sealed = app.vault.seal(value)
      await db
        .insertInto('ci_job_variables')
        .values({ job_id: job.id, key, value_sealed })
        .onConflict((conflict) => conflict.columns(['job_id', 'key']).doUpdateSet({ value_sealed }))
        .execute()
    }
  })
}

async function expiryOf(app: App, job: Job, span: string | null | undefined): Promise<string | null> {
  const { default_artifacts_expire_in: usual } = await currentSettings(app)
  const seconds = parseSpan(span || optionsOf(job).artifacts?.expire_in || usual)
  // `never`, an invalid duration and 0 mean no expiry. So does a duration that a date cannot hold.
  return seconds && seconds < 1e10 ? after(app.clock, seconds * 1000) : null
}

/** Reads the directory of the archive without trusting it, and rejects a file that is not an archive. */
async function assertZip(app: App, { digest, size }: Blob): Promise<void> {
  try {
    await openZip({
      size,
      async *read(start, end) {
        if (end <= start) return
        const opened = await app.blobs.open(digest, { start, end: end - 1 })
        if (!opened) throw new BadZip('is gone')
        yield* opened.stream as AsyncIterable<Uint8Array>
      },
    })
  } catch (error) {
    if (!(error instanceof BadZip)) throw error
    throw bad('invalid zip archive')
  }
}

async function readDotenv(app: App, blob: Blob, format: Artifact['file_format']): Promise<DotenvVariable[]> {
  const limits = await loadLimits(app.db)
  const most = { bytes: limits.dotenv_size || LARGEST_DOTENV, variables: limits.dotenv_variables || Infinity }
  const opened = blob.size > LARGEST_DOTENV ? null : await app.blobs.open(blob.digest)
  const read = opened ? await dotenvIn(Buffer.concat(await opened.stream.toArray()), format, most) : tooBig(most.bytes)
  if (typeof read === 'string') throw bad(read)
  return read
}

const bad = (why: string) => new Refusal('bad_request', `400 Bad Request - ${why}`)
