import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Upload as Spooled } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { MEDIA_HEAD, sniffMedia } from '../../../lib/files/media.ts'
import { randomHex } from '../../../lib/crypto/secrets.ts'
import { locksRows } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { Project } from '../projects/queries.ts'
import type { Upload } from './entity.ts'
import { cleanName } from './names.ts'

const MB = 1024 * 1024

/** The maximum size of a request, whatever limit the instance sets. */
export const LARGEST_UPLOAD = 100 * MB

export async function storeUpload(app: App, actor: User, project: Project, file: Spooled): Promise<Upload> {
  const { max_attachment_size } = await currentSettings(app)
  if (file.size > max_attachment_size * MB) throw new Refusal('too_large')
  const { type } = sniffMedia(await headOf(file.path))
  const { digest, size } = await app.blobs.put(createReadStream(file.path))
  // Schedules the release of the blob, in case the row is never created.
  await releaseBlob(app, digest)
  const upload = await app.db
    .insertInto('uploads')
    .values({
      project_id: project.id,
      user_id: actor.id,
      secret: randomHex(16),
      filename: cleanName(file.filename),
      type,
      size,
      digest,
      created_at: timestamp(app.clock),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  // An earlier release of the same content may have deleted the blob before the row existed.
  if (!(await app.blobs.has(digest))) await app.blobs.put(createReadStream(file.path))
  return upload
}

async function headOf(path: string): Promise<Uint8Array> {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MEDIA_HEAD), 0, MEDIA_HEAD, 0)
  return buffer.subarray(0, bytesRead)
}

/** False if a concurrent request was faster. */
export async function deleteUpload(app: App, { id, digest }: Upload): Promise<boolean> {
  return transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('uploads').where('id', '=', id).executeTakeFirst()
    await releaseBlob(app, digest)
    return numDeletedRows > 0n
  })
}

/** Copies uploads to another project with new secrets. Returns the new secret for each existing old one. */
export async function copyUploads(
  { db, clock }: TransactionApp,
  secrets: readonly string[],
  from: number,
  to: number,
): Promise<Map<string, string>> {
  if (secrets.length === 0) return new Map()
  const uploads = await db
    .selectFrom('uploads')
    .selectAll()
    .where('project_id', '=', from)
    .where('secret', 'in', [...secrets])
    .orderBy('id')
    // A concurrent deletion waits for this lock, and then finds that the copy references the content.
    .$if(locksRows(db), (query) => query.forKeyShare())
    .execute()
  const copies = new Map(uploads.map(({ secret }) => [secret, randomHex(16)]))
  const created_at = timestamp(clock)
  const rows = uploads.map(({ id: _id, ...upload }) => ({
    ...upload,
    project_id: to,
    secret: copies.get(upload.secret)!,
    created_at,
  }))
  if (rows.length > 0) await db.insertInto('uploads').values(rows).execute()
  return copies
}
