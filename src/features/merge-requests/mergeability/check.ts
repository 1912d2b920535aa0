/**
 * The merge check: whether the commits of a merge request can be merged. It runs when source or target moves. The
 * result is stored with its pair of commits, so that reading it is a query.
 */
import { MINUTE } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { tryMerges } from '../../../git/merging/trying.ts'
import { oncePerPage } from '../../../lib/async/page-reads.ts'
import { enqueue, type Job } from '../../../jobs/queue.ts'
import { idList, inIdList, inTextList, locksRows, textList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { askTogether, lookup, type Lookup } from '../../../store/lookups.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { ownershipLookup, refreshOwnership } from '../code-owners/service.ts'
import type { CheckResult, MergeRequest } from '../merge-requests/model.ts'
import { findTips, findTipsOf, targetTip, type Tips } from '../versions/service.ts'

/** Further paths are not stored. */
const MOST_CONFLICTS = 1000

interface Checked {
  readonly result: CheckResult
  readonly conflicts: readonly string[]
}

/** A job retries checks that git did not finish, at growing intervals and a limited number of times. */
export const RECHECK: Pick<Job<never, { id: number; tries: number }>, 'name'> = {
  name: 'merge_requests.check_again',
}
const FIRST_DELAY = 10 * MINUTE
const MOST_TRIES = 6

/**
 * The merge request with a current check. Closed and merged ones keep their last result, in read-only mode all do.
 * `tries`: how often the check
 * was undecided before.
 */
export async function freshlyChecked(
  app: App,
  one: MergeRequest,
  project?: Project | null,
  { tries = 0 }: { tries?: number } = {},
): Promise<MergeRequest> {
  if (one.state !== 'opened' || app.config.readOnly) return one
  return oncePerPage(app, `check of ${one.id}`, () => checked(app, one, project, tries))
}

async function checked(
  app: App,
  one: MergeRequest,
  project: Project | null | undefined,
  tries: number,
): Promise<MergeRequest> {
  const target = project ?? (await findProjectById(app.db, one.project_id))
  if (!target) return one
  const tips = await findTips(app, target, one)
  const known = await askTogether(app.db, { target: storedTarget(one), ownership: ownershipLookup(one) })
  await rememberTarget(app, one, () => targetTip(tips.dir, one.target_branch), known.target)
  await refreshOwnership(app, one, tips, known.ownership)
  if (isFresh(one, tips) && !(tries > 0 && one.check_result === 'undecided')) return one
  const [result] = await lookAt(tips.dir, [{ one, tips }])
  if (!result) return one
  const [kept] = await transact(app, (app) => keep(app, [one], tips.target, result, tries))
  return kept ?? one
}

/** Checks merge requests of one project and target branch in one git process. */
export async function checkTogether(
  app: App,
  project: Project,
  branch: string,
  some: readonly MergeRequest[],
  signal?: AbortSignal,
): Promise<void> {
  const found = await findTipsOf(app, project, branch, some)
  const [{ tips: first } = { tips: null }] = found
  if (!first) return
  await rememberTarget(app, { project_id: project.id, target_branch: branch }, () => targetTip(first.dir, branch))
  for (const { one, tips } of found) await refreshOwnership(app, one, tips)
  const stale = found.filter(({ one, tips }) => !isFresh(one, tips))
  const results = await lookAt(first.dir, stale, signal)
  const alike = Map.groupBy(
    results.flatMap((checked, n) => (checked ? [{ one: stale[n]!.one, checked }] : [])),
    ({ checked }) => JSON.stringify(checked),
  )
  if (alike.size === 0) return
  await transact(app, async (app) => {
    for (const group of alike.values()) {
      await keep(
        app,
        group.map(({ one }) => one),
        first.target,
        group[0]!.checked,
      )
    }
  })
}

function isFresh(one: MergeRequest, tips: Tips): boolean {
  const isBack = one.check_result === 'missing' && tips.source !== null && tips.target !== null
  return one.check_result !== null && one.check_head === one.head_sha && one.check_target === tips.target && !isBack
}

/** Writes one result for several merge requests. */
async function keep(
  app: TransactionApp,
  some: readonly MergeRequest[],
  target: string | null,
  { result, conflicts }: Checked,
  tries = 0,
): Promise<MergeRequest[]> {
  const { db } = app
  const ids = idList(
    db,
    some.map(({ id }) => id),
  )
  const heads = some.flatMap(({ head_sha }) => head_sha ?? [])
  const fine = result === 'conflict' ? await lockWithoutConflict(db, ids) : new Set<number>()
  const kept = await db
    .updateTable('merge_requests')
    .set((eb) => ({
      check_head: eb.ref('head_sha'),
      check_target: target,
      check_result: result,
      check_conflicts: conflicts.length === 0 ? null : JSON.stringify(conflicts.slice(0, MOST_CONFLICTS)),
    }))
    .where(inIdList(db, 'id', ids))
    // The result does not apply to another head.
    .where((eb) => eb.or([inTextList(db, 'head_sha', textList(db, heads)), eb('head_sha', 'is', null)]))
    .returningAll()
    .execute()
  for (const { id, project_id, auto_merge } of kept)
    if (auto_merge && fine.has(id)) await emit(app, 'merge_request.unmergeable', { id, project_id })
  for (const { id } of result === 'undecided' && tries < MOST_TRIES ? kept : []) {
    const again = { id, tries: tries + 1 }
    const key = `${RECHECK.name} ${id} ${again.tries}`
    await enqueue(app, RECHECK, again, { key, delay: FIRST_DELAY * 2 ** tries })
  }
  return kept
}

/** Two checks may find the same conflict at once. Only the first one emits the event. */
async function lockWithoutConflict(db: TransactionApp['db'], ids: string): Promise<Set<number>> {
  const rows = await db
    .selectFrom('merge_requests')
    .select(['id', 'check_result'])
    .where(inIdList(db, 'id', ids))
    .orderBy('id')
    .$if(locksRows(db), (query) => query.forUpdate())
    .execute()
  return new Set(rows.filter(({ check_result }) => check_result !== 'conflict').map(({ id }) => id))
}

interface RequestContext {
  readonly one: MergeRequest
  readonly tips: Tips
}

/** In the given order. Null if git could not tell. */
async function lookAt(
  dir: string,
  requests: readonly RequestContext[],
  signal?: AbortSignal,
): Promise<(Checked | null)[]> {
  const known = requests.map(({ one, tips }) => withoutMerging(one, tips))
  const unknown = requests.filter((_, n) => !known[n])
  const pairs = unknown.map(({ one, tips }) => ({ ours: tips.target!, theirs: one.head_sha! }))
  const tried = (await tryMerges(dir, pairs, { signal })).values()
  return known.map((checked) => {
    if (checked) return checked
    const found = tried.next().value ?? null
    if (found === 'overran') return { result: 'undecided', conflicts: [] }
    if (found === null) return null
    const { conflicts } = found
    return { result: conflicts ? 'conflict' : 'mergeable', conflicts: conflicts ?? [] }
  })
}

/** Results that follow from the commit ids alone. */
function withoutMerging({ head_sha, base_sha }: MergeRequest, { source, target }: Tips): Checked | null {
  if (source === null || target === null || head_sha === null) return { result: 'missing', conflicts: [] }
  if (head_sha === base_sha || head_sha === target) return { result: 'empty', conflicts: [] }
  return target === base_sha ? { result: 'mergeable', conflicts: [] } : null
}

const targetRow = hotQuery((db, p: { project: number; branch: string }) =>
  db.selectFrom('merge_targets').select('sha').where('project_id', '=', p.project).where('branch', '=', p.branch),
)

type Target = Pick<MergeRequest, 'project_id' | 'target_branch'>
type StoredTarget = { readonly sha: string | null } | null

const storedTarget = ({ project_id, target_branch }: Target): Lookup<StoredTarget> =>
  lookup(targetRow, { project: project_id, branch: target_branch }, ([row]) => row ?? null)

/**
 * Stores the tip of the target branch, which invalidates checks of older tips. The tip is read after the row and
 * written only if the row is unchanged, so that a slow process never writes back an older tip. `stored`: the row, if it
 * was read before.
 */
export async function rememberTarget(
  { db }: App,
  one: Target,
  tipOf: () => Promise<string | null>,
  stored?: StoredTarget,
): Promise<void> {
  const { project_id, target_branch: branch } = one
  for (let tries = 1; ; tries++) {
    const known = tries === 1 && stored !== undefined ? stored : await storedTarget(one).ask(db)
    const sha = await tipOf()
    if (known?.sha === sha) return
    const written = known
      ? await db
          .updateTable('merge_targets')
          .set({ sha })
          .where('project_id', '=', project_id)
          .where('branch', '=', branch)
          .where('sha', known.sha === null ? 'is' : '=', known.sha)
          .returning('sha')
          .executeTakeFirst()
      : await db
          .insertInto('merge_targets')
          .values({ project_id, branch, sha })
          .onConflict((c) => c.doNothing())
          .returning('sha')
          .executeTakeFirst()
    if (written) return
  }
}
