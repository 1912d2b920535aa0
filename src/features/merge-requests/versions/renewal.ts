/**
 * The changes of a merge request also depend on its target: after a force push, or when the target gets some of its
 * commits another way.
 */
import type { App } from '../../../context.ts'
import { pushedCommits } from '../../../git/history/history.ts'
import { withMutex } from '../../../lib/async/mutex.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { UNCHECKED, lockMergeRequest } from '../merge-requests/service.ts'
import { measure } from './measure.ts'
import { addVersion, findTips, keepEnds, versionColumns } from './service.ts'

export interface TargetUpdate {
  readonly branch: string
  readonly before: string | null
  readonly after: string | null
}

/** The maximum number of commits of one push that are compared with commits of merge requests. */
const MOST_COMMITS = 10_000

/**
 * Renews outdated versions, or none where there are more than `atMost`. Idempotent: versions of the current target
 * stay.
 */
export async function renewVersions(
  app: App,
  project: Project,
  update: TargetUpdate,
  { atMost = Infinity, signal }: { atMost?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const ids = await outdatedBy(app, project, update)
  if (ids.length > atMost) return
  for (const id of ids) {
    if (signal?.aborted) return
    await renewVersion(app, project, id)
  }
}

async function outdatedBy(app: App, project: Project, { branch, before, after }: TargetUpdate): Promise<number[]> {
  if (after === null) return []
  const { db } = app
  const dir = repositoryDir(app, project)
  const open = db
    .selectFrom('merge_requests')
    .select('id')
    .where('project_id', '=', project.id)
    .where('target_branch', '=', branch)
    .where('state', '=', 'opened')
    .where((eb) => eb.or([eb('start_sha', 'is', null), eb('start_sha', '!=', after)]))
    .orderBy('id')
  const first = await open.limit(1).executeTakeFirst()
  if (!first) return []
  const { ids: pushed, isForward } = await pushedCommits(dir, before, after, MOST_COMMITS)
  if (!isForward) return (await open.execute()).map(({ id }) => id)
  const touched = await open
    .where((eb) =>
      eb(
        'id',
        'in',
        eb
          .selectFrom('merge_request_commits as c')
          .select('c.merge_request_id')
          .where(inTextList(db, 'c.sha', textList(db, pushed))),
      ),
    )
    .execute()
  return touched.map(({ id }) => id)
}

/** The head is unchanged; `refreshSource` handles pushes to the source. */
function renewVersion(app: App, project: Project, id: number): Promise<void> {
  return withMutex(`merge request ${id}`, async () => {
    const [seen] = await findMergeRequests(app.db, [id])
    if (!seen || seen.state !== 'opened' || seen.head_sha === null) return
    const { dir, target } = await findTips(app, project, seen)
    if (target === null || target === seen.start_sha) return
    await keepEnds(dir, seen.head_sha, target)
    const measured = await measure(dir, seen.head_sha, target)
    await transact(app, async (app) => {
      const locked = await lockMergeRequest(app, id)
      if (!isSame(locked, seen)) return
      await addVersion(app, id, measured)
      await app.db
        .updateTable('merge_requests')
        .set({ ...versionColumns(measured), ...(measured.base_sha !== seen.base_sha && UNCHECKED) })
        .where('id', '=', id)
        .execute()
    })
    // A merge request with the same commits may have been deleted before this version existed to keep them.
    await keepEnds(dir, seen.head_sha, target)
  })
}

const isSame = (locked: MergeRequest, seen: MergeRequest) =>
  locked.state === 'opened' &&
  locked.head_sha === seen.head_sha &&
  locked.start_sha === seen.start_sha &&
  locked.target_branch === seen.target_branch
