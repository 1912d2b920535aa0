/**
 * Keeps the commits that undoing a change of a ref needs. A ref is created only for commits that nothing else reaches,
 * and only before objects are pruned: most changes cost nothing.
 */
import { DAY, after } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { keepRef } from '../../../git/refs/pointing.ts'
import { unreachableAmong } from '../../../git/storage/keeping.ts'
import { keepForUndo, listUndoRefs, releaseForUndo, whilePruning } from '../../../git/refs/undo-refs.ts'
import type { Project } from '../projects/queries.ts'

/** A quarter: long enough to notice what is missing after a release, and short enough that disks do not fill. */
export const UNDO_DAYS = 90

/** Runs the work, which prunes objects. */
export function keepingUndo(
  app: App,
  project: Pick<Project, 'id'>,
  dir: string,
  work: () => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  return whilePruning(dir, async () => {
    await keepForUndo(dir, await neededIn(app, project, dir, signal))
    await work()
  })
}

/** Drops refs of changes that were deleted. */
export async function releaseUndo(app: App, project: Pick<Project, 'id'>, dir: string): Promise<void> {
  const kept = await listUndoRefs(dir)
  if (kept.size === 0) return
  const needed = await neededIn(app, project, dir)
  await releaseForUndo(
    dir,
    [...kept].filter((id) => !needed.has(id)),
  )
}

async function neededIn(
  app: App,
  project: Pick<Project, 'id'>,
  dir: string,
  signal?: AbortSignal,
): Promise<Set<string>> {
  const needed = new Set<string>()
  for await (const page of oldValues(app, project))
    for (const id of await unreachableAmong(dir, page, signal)) needed.add(id)
  return needed
}

export interface OldValue {
  readonly ref: string
  readonly before: string
}

/** Each page is one git process. */
const ROWS_A_PAGE = 5000

/** Pending changes come first: a change that is published meanwhile is in one of the two tables. */
async function* oldValues({ db, clock }: App, { id }: Pick<Project, 'id'>): AsyncGenerator<OldValue[]> {
  const pending = await db
    .selectFrom('pending_changes')
    .select('updates')
    .where('project_id', '=', id)
    .where('wiki', '=', false)
    .execute()
  const moving = pending.flatMap(({ updates }) => JSON.parse(updates) as { ref: string; before: string | null }[])
  if (moving.length > 0) yield moving.filter((update): update is OldValue => update.before !== null)
  yield* commitsInBin(db, id)
  for (let last = 0; ;) {
    const rows = await db
      .selectFrom('ref_changes')
      .select(['id', 'ref', 'before', 'created_at'])
      .where('project_id', '=', id)
      .where('wiki', '=', false)
      .where('id', '>', last)
      .orderBy('id')
      .limit(ROWS_A_PAGE)
      .execute()
    const since = after(clock, -UNDO_DAYS * DAY)
    const values = rows.flatMap(({ ref, before, created_at }) =>
      before !== null && created_at >= since ? [{ ref, before }] : [],
    )
    if (values.length > 0) yield values
    if (rows.length < ROWS_A_PAGE) return
    last = rows.at(-1)!.id
  }
}

/** The commits of deleted merge requests. */
async function* commitsInBin(db: App['db'], project: number): AsyncGenerator<OldValue[]> {
  for (let last = 0; ;) {
    const rows = await db
      .selectFrom('deleted_commits')
      .select(['id', 'sha'])
      .where('project_id', '=', project)
      .where('id', '>', last)
      .orderBy('id')
      .limit(ROWS_A_PAGE)
      .execute()
    if (rows.length > 0) yield rows.map(({ sha }) => ({ ref: keepRef(sha), before: sha }))
    if (rows.length < ROWS_A_PAGE) return
    last = rows.at(-1)!.id
  }
}
