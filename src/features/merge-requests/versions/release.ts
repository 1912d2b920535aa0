/**
 * Keeps the commits of versions while the merge request exists. After that, only other users of the commits keep them.
 */
import { job, type App, type TransactionApp } from '../../../context.ts'
import { withhold } from '../../../git/objects/withheld.ts'
import { dropRefs, keepCommit, keepRef } from '../../../git/refs/pointing.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { enqueueAll } from '../../../jobs/queue.ts'
import { idList, inIdList, inTextList, textList } from '../../../store/dialect.ts'
import { schedulePrune } from '../../projects/housekeeping/jobs.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { headRef, mergeRef } from './refs.ts'
import type { MergeRequest } from '../merge-requests/model.ts'

interface Released {
  readonly project_id: number
  readonly iid: number
  readonly shas: readonly string[]
  /** The commits come from a fork, which not every member here may read. */
  readonly fromFork: boolean
}

/** The maximum number of commits per job. */
const MOST_AT_ONCE = 500

/** Call in the transaction that deletes them, before the deletion. Returns what to release at once; a job does so, too. */
export async function releaseVersions(
  app: TransactionApp,
  requests: readonly Pick<MergeRequest, 'id' | 'iid' | 'project_id' | 'source_project_id'>[],
): Promise<readonly Released[]> {
  const ids = requests.map(({ id }) => id)
  const rows = await app.db
    .selectFrom('merge_request_versions')
    .select(['merge_request_id', 'head_sha', 'start_sha'])
    .where(inIdList(app.db, 'merge_request_id', idList(app.db, ids)))
    .execute()
  const versions = Map.groupBy(rows, (row) => row.merge_request_id)
  const payloads = requests.flatMap(({ id, iid, project_id, source_project_id }) => {
    const ends = (versions.get(id) ?? []).flatMap(({ head_sha, start_sha }) => [head_sha, start_sha])
    const shas = [...new Set(ends)].filter((sha) => sha !== null)
    const fromFork = source_project_id !== project_id
    return [...batchesOf(shas, MOST_AT_ONCE)].map((some) => ({ project_id, iid, shas: some, fromFork }))
  })
  await enqueueAll(app, releaseCommits, payloads)
  return payloads
}

/** Idempotent. */
export async function release(app: App, released: Released): Promise<void> {
  const project = await findProjectById(app.db, released.project_id)
  if (!project) return
  const dir = repositoryDir(app, project)
  const own = [headRef(released.iid), mergeRef(released.iid)]
  const ends = await Promise.all(own.map((ref) => resolveRef(dir, ref)))
  const needed = await neededOf(app, released)
  const dropped = released.shas.filter((sha) => !needed.has(sha))
  await dropRefs(dir, [...own, ...dropped.map(keepRef)])
  // A new version may rely on a ref that was just dropped: restore it.
  const neededNow = await neededOf(app, { ...released, shas: dropped })
  for (const sha of neededNow) await keepCommit(dir, sha)
  if (!released.fromFork) return
  await withhold(dir, [...dropped, ...ends.filter((sha) => sha !== null)])
  await schedulePrune(app, project)
}

/** For a merge request in the bin, whose versions are gone already. Call it in the transaction that deletes it. */
export async function releaseLater(
  app: TransactionApp,
  { shas, ...request }: Pick<Released, 'project_id' | 'iid' | 'shas'>,
): Promise<void> {
  // Its commits become unreadable, wherever they come from.
  const payloads = [...batchesOf(shas, MOST_AT_ONCE)].map((some) => ({ ...request, shas: some, fromFork: true }))
  await enqueueAll(app, releaseCommits, payloads)
}

export const releaseCommits = job<Released>('merge_requests.release_commits', release)

/** Commits that another version or a pipeline of the project uses. */
async function neededOf({ db }: App, { project_id, shas }: Released): Promise<Set<string>> {
  const list = textList(db, shas)
  const endsOf = (column: 'head_sha' | 'start_sha') =>
    db
      .selectFrom('merge_request_versions as v')
      .innerJoin('merge_requests as m', 'm.id', 'v.merge_request_id')
      .select(`v.${column} as sha`)
      .where('m.project_id', '=', project_id)
      .where(inTextList(db, `v.${column}`, list))
  const rows = await endsOf('head_sha')
    .union(endsOf('start_sha'))
    .union(
      db
        .selectFrom('pipelines')
        .select('sha')
        .where('project_id', '=', project_id)
        .where(inTextList(db, 'sha', list)),
    )
    .execute()
  return new Set(rows.flatMap(({ sha }) => sha ?? []))
}
