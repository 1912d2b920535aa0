import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { transact } from '../../../store/transact.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import { addLfsSize, measureLfsSize } from '../../projects/projects/activity.ts'
import { lockProject, type Project } from '../../projects/projects/queries.ts'

/** The announced content: its digest is its id. */
export interface Announced {
  readonly oid: string
  readonly size: number
}

/**
 * Stores content for a project. A client must upload content that another project already has: only a client that has
 * the content may link it.
 */
export async function storeLfsObject(
  app: App,
  project: Project,
  announced: Announced,
  content: Readable,
): Promise<void> {
  const { oid } = announced
  await app.blobs.put(Readable.from(verified(content, announced)))
  // Schedules the release of the blob, in case the link is never created.
  await releaseBlob(app, oid)
  await linkObject(app, project, announced)
  // An earlier release of the same content may have deleted the blob before the link existed. The client must upload
  // again then.
  if (await app.blobs.has(oid)) return
  await unlinkObject(app, project, announced)
  throw new Refusal('conflict', 'The content was removed meanwhile, please send it again')
}

const mismatch = () => new Refusal('bad_request', 'SHA256 or size mismatch')

/** Fails at the end if the content does not match its id or size, so that nothing is stored. */
async function* verified(content: Readable, { oid, size }: Announced): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let seen = 0
  try {
    for await (const chunk of content.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      seen += chunk.length
      if (seen > size) break
      hash.update(chunk)
      yield chunk
    }
  } catch (error) {
    // A disconnected client has sent too little.
    throw content.readableAborted ? mismatch() : error
  }
  if (seen !== size || hash.digest('hex') !== oid) throw mismatch()
}

async function linkObject(app: App, { id: project_id }: Project, { oid, size }: Announced): Promise<void> {
  await transact(app, async (app) => {
    if (!(await lockProject(app, project_id))) throw notFound('Project')
    const { id: lfs_object_id } = await app.db
      .insertInto('lfs_objects')
      .values({ oid, size, created_at: timestamp(app.clock) })
      // Updates the row even if nothing changes, so that a concurrent deletion waits for the new link.
      .onConflict((c) => c.column('oid').doUpdateSet({ size }))
      .returning('id')
      .executeTakeFirstOrThrow()
    const { numInsertedOrUpdatedRows } = await app.db
      .insertInto('lfs_object_projects')
      .values({ lfs_object_id, project_id })
      .onConflict((c) => c.columns(['project_id', 'lfs_object_id']).doNothing())
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows) await addLfsSize(app, project_id, size)
  })
}

async function unlinkObject(app: App, { id }: Project, { oid, size }: Announced): Promise<void> {
  await transact(app, async (app) => {
    await lockProject(app, id)
    const { numDeletedRows } = await app.db
      .deleteFrom('lfs_object_projects')
      .where('project_id', '=', id)
      .where('lfs_object_id', 'in', (eb) => eb.selectFrom('lfs_objects').select('id').where('oid', '=', oid))
      .executeTakeFirst()
    if (numDeletedRows) await addLfsSize(app, id, -size)
  })
}

/** Gives a fork all objects of its source. Idempotent. */
export async function copyLfsLinks(app: App, from: number, to: number): Promise<void> {
  await transact(app, async (app) => {
    if (!(await lockProject(app, to))) return
    await app.db
      .insertInto('lfs_object_projects')
      .columns(['lfs_object_id', 'project_id'])
      .expression((eb) =>
        eb
          .selectFrom('lfs_object_projects')
          .select(['lfs_object_id', eb.val(to).as('project_id')])
          .where('project_id', '=', from),
      )
      .onConflict((c) => c.columns(['project_id', 'lfs_object_id']).doNothing())
      .execute()
    await measureLfsSize(app, to)
  })
}
