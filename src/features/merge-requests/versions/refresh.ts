/** A merge request follows its source: each push creates a version. */
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { listCommits } from '../../../git/history/history.ts'
import { withMutex } from '../../../lib/async/mutex.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { findUser } from '../../identity/users/queries.ts'
import { addSystemNotes, type SystemNote } from '../../planning/notes/system.ts'
import { timestampChanges } from '../../planning/timestamps.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { resetApprovals } from '../approvals/resetting.ts'
import { unchangedSince } from '../approvals/sameness.ts'
import { isUnfinishedCommit } from '../merge-requests/draft.ts'
import { projectPaths } from '../../planning/items/load.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { NO_AUTO_MERGE, UNCHECKED, lockMergeRequest } from '../merge-requests/service.ts'
import { followThreads, traceThreads } from '../notes/moving.ts'
import type { Measured } from './measure.ts'
import type { Version } from './model.ts'
import { pushNote } from './notes.ts'
import { pointHead } from './heads.ts'
import { addVersion, findTips, takeIn, versionColumns, type Tips } from './service.ts'

/** Further commits of one push are ignored. */
const MOST_COMMITS = 1000
const MOST_TRIES = 5

/** The merge request, after it has a version for the current tip of its source. */
export async function refreshSource(
  app: App,
  one: MergeRequest,
  project: Project,
  by: number | null = null,
): Promise<MergeRequest> {
  if (one.state !== 'opened') return one
  return withMutex(`merge request ${one.id}`, async () => {
    let seen = one
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const tips = await findTips(app, project, seen)
      const { source } = tips
      if (source === null || source === seen.head_sha || seen.state !== 'opened') return seen
      seen = await follow(app, project, seen, { ...tips, source }, by)
      // Another push may have come meanwhile: check again.
    }
    return seen
  })
}

async function follow(
  app: App,
  project: Project,
  seen: MergeRequest,
  tips: Tips & { readonly source: string },
  by: number | null,
): Promise<MergeRequest> {
  const measured = await takeIn(app, project, seen, tips)
  const actor = by === null ? null : await findUser(app.db, by)
  const added = await addedCommits(tips.dir, seen, measured)
  const unchanged = await unchangedSince(app, tips.dir, seen, measured)
  const moves = await traceThreads(app, tips.dir, seen, measured)
  const unfinished = added.own.find(({ title }) => isUnfinishedCommit(title))
  const followed = await transact(app, async (app) => {
    const locked = await lockMergeRequest(app, seen.id)
    const isAsSeen = locked.head_sha === seen.head_sha && locked.target_branch === seen.target_branch
    if (locked.state !== 'opened' || !isAsSeen) return locked
    const version = await addVersion(app, locked.id, measured)
    const becomesDraft = unfinished !== undefined && !locked.draft
    const updated = await app.db
      .updateTable('merge_requests')
      .set({
        ...versionColumns(measured),
        ...UNCHECKED,
        ...NO_AUTO_MERGE,
        ...(becomesDraft && { draft: true, title: `WIP: ${locked.title}`.slice(0, 255) }),
        updated_at: timestamp(app.clock),
      })
      .where('id', '=', locked.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await resetApprovals(app, locked, unchanged)
    if (actor) await tell(app, actor, locked, added, version, becomesDraft ? unfinished.id : null)
    await followThreads(app, actor, locked, version, moves)
    await emit(app, 'merge_request.pushed', {
      id: locked.id,
      project_id: locked.project_id,
      by,
      before: locked.head_sha,
      after: measured.head_sha,
      changes: {
        ...(becomesDraft && { draft: [false, true], title: [locked.title, updated.title] }),
        ...timestampChanges(locked, updated),
      },
    })
    return updated
  })
  await pointHead(app, tips.dir, followed)
  return followed
}

interface Added {
  /** Newest first. */
  readonly own: readonly { readonly id: string; readonly title: string }[]
  readonly fromTarget: { readonly count: number; readonly first: string; readonly last: string } | null
}

/** Commits that only the new head has, split by whether the target contains them. */
async function addedCommits(dir: string, { head_sha: before }: MergeRequest, now: Measured): Promise<Added> {
  const list = (from: string | null, not: (string | null)[]) =>
    from === null ? [] : listCommits(dir, { from, not: not.filter((name) => name !== null), limit: MOST_COMMITS })
  const own = await list(now.head_sha, [before, now.base_sha])
  const came = before === null || now.base_sha === null ? [] : await list(now.base_sha, [before])
  const [last, first] = [came[0], came.at(-1)]
  return { own, fromTarget: first && last ? { count: came.length, first: first.id, last: last.id } : null }
}

async function tell(
  app: TransactionApp,
  actor: User,
  locked: MergeRequest,
  { own, fromTarget }: Added,
  version: Version,
  unfinished: string | null,
): Promise<void> {
  const paths = await projectPaths(app.db, [locked.project_id])
  const web = pageBelow(`${app.url}/${paths.get(locked.project_id)}`, `merge_requests/${locked.iid}`)
  const compare = `${web}/diffs?diff_id=${version.id}&start_sha=${locked.head_sha}`
  const notes: SystemNote[] = [
    ...(own.length > 0 || fromTarget
      ? [
          {
            action: 'commit' as const,
            body: pushNote({ commits: own, fromTarget, target: locked.target_branch, compare }),
          },
        ]
      : []),
    ...(unfinished === null
      ? []
      : [{ action: 'title' as const, body: `marked as a **Work In Progress** from ${unfinished}` }]),
  ]
  await addSystemNotes(app, actor, { project_id: locked.project_id, merge_request_id: locked.id }, notes)
}
