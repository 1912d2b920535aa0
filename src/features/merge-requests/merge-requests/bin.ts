/** A deleted merge request keeps its commits in the bin: housekeeping does, and nobody can read them. */
import type { App, TransactionApp } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { readmit } from '../../../git/objects/withheld.ts'
import { keepCommits } from '../../../git/refs/pointing.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { Owner } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import type { BinKind } from '../../planning/bin/kinds.ts'
import type { DeletedItem } from '../../planning/bin/model.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { releaseUndoRefs } from '../../repository/ref-changes/jobs.ts'
import { pointHead } from '../versions/heads.ts'
import { releaseLater } from '../versions/release.ts'
import { findMergeRequests } from './queries.ts'
import { NO_AUTO_MERGE, assertNoTwin, lockMergeRequest } from './service.ts'

const ROWS_AN_INSERT = 500

export const mergeRequestBin: BinKind = {
  key: 'merge_request',
  one: 'a merge request',
  table: 'merge_requests',
  level: Owner,

  async leaving(app, item) {
    const { state } = await lockMergeRequest(app, item.record_id)
    // Deleting it now would leave its commits on the target without any record.
    if (state === 'locked') throw new Refusal('conflict', 'The merge request is being merged')
    await noteCommits(app, item)
  },

  async deleted(app, { id: deleted, record_id: id, project_id, iid, title, deleted_by_id: by }) {
    const rows = await app.db
      .selectFrom('deleted_commits')
      .select('sha')
      .where('deleted_item_id', '=', deleted)
      .execute()
    await releaseLater(app, { project_id: project_id!, iid: iid!, shas: rows.map(({ sha }) => sha) })
    // The user may have been removed meanwhile.
    if (by !== null) await emit(app, 'merge_request.deleted', { id, project_id: project_id!, iid: iid!, title, by })
  },

  async returned(app, { record_id }) {
    const one = await lockMergeRequest(app, record_id)
    if (one.state === 'opened') await assertNoTwin(app, one, one.id)
    await app.db.updateTable('merge_requests').set(NO_AUTO_MERGE).where('id', '=', record_id).execute()
  },

  returning: bringCommitsBack,

  async restored(app, { record_id: id, project_id }) {
    await enqueue(app, releaseUndoRefs, { id: project_id! })
    await emit(app, 'merge_request.restored', { id, project_id: project_id! })
  },

  purged: (app, { project_id }) => enqueue(app, releaseUndoRefs, { id: project_id! }),
}

async function noteCommits({ db }: TransactionApp, { id, record_id, project_id }: DeletedItem): Promise<void> {
  const versions = await db
    .selectFrom('merge_request_versions')
    .select(['head_sha', 'start_sha'])
    .where('merge_request_id', '=', record_id)
    .execute()
  const shas = new Set(
    versions.flatMap(({ head_sha, start_sha }) => [head_sha, start_sha]).filter((sha) => sha !== null),
  )
  const rows = Array.from(shas, (sha) => ({ deleted_item_id: id, project_id: project_id!, sha }))
  for (const some of batchesOf(rows, ROWS_AN_INSERT))
    await db
      .insertInto('deleted_commits')
      .values([...some])
      .onConflict((oc) => oc.columns(['deleted_item_id', 'sha']).doNothing())
      .execute()
}

async function bringCommitsBack(app: App, { id, record_id, project_id }: DeletedItem): Promise<void> {
  const [one] = await findMergeRequests(app.db, [record_id])
  const project = await findProjectById(app.db, project_id!)
  if (!one || !project) return
  const dir = repositoryDir(app, project)
  const rows = await app.db.selectFrom('deleted_commits').select('sha').where('deleted_item_id', '=', id).execute()
  await keepCommits(
    dir,
    rows.map(({ sha }) => sha),
  )
  await readmit(dir)
  await pointHead(app, dir, one)
}
