/** Effects of a push on merge requests: those from its branches at once, those into them as far as necessary. */
import { sql } from 'kysely'
import type { App, TransactionApp } from '../../../context.ts'
import { pushedCommits } from '../../../git/history/history.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { inTextList, textList, textsIn } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { findUser } from '../../identity/users/queries.ts'
import { markMade, wasMade } from '../../ci/pipelines/marks.ts'
import { addSystemNotes } from '../../planning/notes/system.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { branchOf, type Update } from '../../repository/gate/updates.ts'
import { freshlyChecked, rememberTarget } from '../mergeability/check.ts'
import { checkTarget } from '../mergeability/jobs.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { UNCHECKED } from '../merge-requests/service.ts'
import { finishMerge, mergedByPush } from '../merging/finish.ts'
import type { Merging } from '../merging/model.ts'
import { refreshSource } from '../versions/refresh.ts'
import { renewVersions } from '../versions/renewal.ts'
import { mergeRequestOptions } from './options.ts'
import { carryOut } from './ordered.ts'

export interface Pushed {
  readonly project: Project
  readonly by: number | null
  readonly updates: readonly Update[]
  readonly options: readonly string[]
}

interface BranchUpdate extends Update {
  readonly branch: string
}

/** The maximum number of commits of one push that are compared with heads. */
const MOST_COMMITS = 10_000
const FEW = 20

/** Runs before the answer to the push. */
export async function followPush(app: App, pushed: Pushed): Promise<string[]> {
  await followBranches(app, pushed)
  return carryOutOptions(app, pushed)
}

/** Idempotent. The push runs it before its answer, and the subscriber of its event runs it again. */
export async function followBranches(app: App, { project, by, updates }: Pushed): Promise<void> {
  const branches = branchesIn(updates)
  if (branches.length === 0) return
  for (const one of await openFrom(app, project, branches)) await followSource(app, one, by, branches)
  for (const update of await targetsAmong(app, project, branches)) await followTarget(app, project, by, update)
}

const branchesIn = (updates: readonly Update[]): BranchUpdate[] =>
  updates.flatMap((update) => {
    const branch = branchOf(update.ref)
    return branch === null ? [] : [{ ...update, branch }]
  })

/**
 * Push options run only once, because two runs would conflict. The push handles them and records a mark. Long after the
 * push, the event subscriber handles pushes without a mark: their process ended too early.
 */
export async function carryOutOptions(
  app: App,
  { project, by, updates, options }: Pushed,
  since?: string,
): Promise<string[]> {
  const branches = branchesIn(updates)
  const ordered = branches.length === 0 ? null : mergeRequestOptions(options)
  const actor = ordered && by !== null ? await findUser(app.db, by) : null
  if (!ordered || !actor) return []
  const of = ['push options', project.id, ...branches.flatMap(({ ref, before, after }) => [ref, before, after])]
  if (since !== undefined && (await wasMade(app, of, since))) return []
  const lines = await carryOut(app, actor, project, branches, ordered)
  await markMade(app, { of, since: null })
  return lines
}

/** JSON, because a branch name may contain any separator. */
const namesOf = (branches: readonly BranchUpdate[]) => JSON.stringify(branches.map(({ branch }) => branch))

function openFrom({ db }: App, { id }: Project, branches: readonly BranchUpdate[]): Promise<MergeRequest[]> {
  return db
    .selectFrom('merge_requests')
    .selectAll()
    .where('source_project_id', '=', id)
    .where(sql<boolean>`source_branch in (${textsIn(db, namesOf(branches))})`)
    .where('state', '=', 'opened')
    .orderBy('id')
    .execute()
}

async function followSource(
  app: App,
  one: MergeRequest,
  by: number | null,
  branches: readonly BranchUpdate[],
): Promise<void> {
  const target = await findProjectById(app.db, one.project_id)
  if (!target) return
  const update = branches.find(({ branch }) => branch === one.source_branch)
  if (update && update.before !== null && update.after === null) await sourceGone(app, one, by)
  if (update && update.before === null && update.after !== null) await sourceBack(app, one, by)
  const followed = await refreshSource(app, one, target, by)
  await freshlyChecked(app, followed, target)
}

/** The push and the event subscriber both get here: only the first adds the note. */
async function sourceGone(app: App, one: MergeRequest, by: number | null): Promise<void> {
  await transact(app, async (app) => {
    const { numUpdatedRows } = await app.db
      .updateTable('merge_requests')
      .set({ check_head: one.head_sha, check_result: 'missing', check_conflicts: null })
      .where('id', '=', one.id)
      .where('state', '=', 'opened')
      .where((eb) => eb.or([eb('check_result', 'is', null), eb('check_result', '!=', 'missing')]))
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await tell(app, one, by, `deleted source branch \`${one.source_branch}\``)
  })
}

async function sourceBack(app: App, one: MergeRequest, by: number | null): Promise<void> {
  await transact(app, async (app) => {
    const { numUpdatedRows } = await app.db
      .updateTable('merge_requests')
      .set(UNCHECKED)
      .where('id', '=', one.id)
      .where('state', '=', 'opened')
      .where('check_result', '=', 'missing')
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await tell(app, one, by, `restored source branch \`${one.source_branch}\``)
  })
}

async function tell(
  app: TransactionApp,
  { id, project_id }: MergeRequest,
  by: number | null,
  body: string,
): Promise<void> {
  const actor = by === null ? null : await findUser(app.db, by)
  if (actor) await addSystemNotes(app, actor, { project_id, merge_request_id: id }, [{ action: 'branch', body }])
}

/** Of the branches, those that are targets of merge requests. */
async function targetsAmong({ db }: App, { id }: Project, branches: readonly BranchUpdate[]): Promise<BranchUpdate[]> {
  const rows = await db
    .selectFrom('merge_targets')
    .select('branch')
    .where('project_id', '=', id)
    .where(sql<boolean>`branch in (${textsIn(db, namesOf(branches))})`)
    .execute()
  const known = new Set(rows.map(({ branch }) => branch))
  return branches.filter(({ branch }) => known.has(branch))
}

async function followTarget(app: App, project: Project, by: number | null, update: BranchUpdate): Promise<void> {
  const { branch, ref, before, after } = update
  const dir = repositoryDir(app, project)
  const { id: project_id } = project
  if (after !== null) await findMerged(app, dir, project_id, by, { branch, before, after })
  const key = `merge_requests.check ${project_id} ${branch} ${before} ${after}`
  await rememberTarget(app, { project_id, target_branch: branch }, () => resolveRef(dir, ref))
  await enqueue(app, checkTarget, { project_id, branch, before, after }, { key })
  // Renews a few at once, so that the pusher sees the result. For many, the job does it.
  await renewVersions(app, project, update, { atMost: FEW })
}

/** Merge requests whose head has reached the target, by any kind of push. */
async function findMerged(
  app: App,
  dir: string,
  project_id: number,
  by: number | null,
  { branch, before, after }: { branch: string; before: string | null; after: string },
): Promise<void> {
  const waiting = app.db
    .selectFrom('merge_requests')
    .select(['id', 'head_sha', 'merging'])
    .where('project_id', '=', project_id)
    .where('target_branch', '=', branch)
    .where('state', 'in', ['opened', 'locked'])
  if (!(await waiting.limit(1).executeTakeFirst())) return
  const { ids } = await pushedCommits(dir, before, after, MOST_COMMITS)
  const heads = textList(app.db, ids)
  const locked = await waiting.where('state', '=', 'locked').execute()
  for (const one of locked) {
    const merging = one.merging === null ? null : (JSON.parse(one.merging) as Merging)
    if (merging && ids.includes(merging.commit)) await finishMerge(app, one.id)
  }
  const merged = await waiting
    .where('state', '=', 'opened')
    .where(inTextList(app.db, 'head_sha', heads))
    .execute()
  for (const one of merged) await mergedByPush(app, one.id, by)
}
