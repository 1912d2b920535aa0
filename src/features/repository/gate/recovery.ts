/**
 * Recovers changes whose process ended after it moved refs and before it published the change. If the refs moved, the
 * change is published as usual; the deleted row ensures that only one process does so, even if the first process is
 * still alive. If the refs did not move, the change is canceled once no process can still work on it.
 */
import { HOUR, MINUTE, after } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { MANY } from '../../../git/refs/update.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { findEnded, hasHolderEnded } from '../../../jobs/processes.ts'
import type { Events, Row } from '../../../store/database.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { repositoryDir, wikiDir } from '../../projects/repositories/repository.ts'
import { dropChange, recordChange } from './changes.ts'
import type { ChangedPage } from './model.ts'
import type { Update } from './updates.ts'

/** The two steps are milliseconds apart. A process that takes longer is dead, or finds that the row is deleted. */
const SETTLED = MINUTE / 2
/** Moving refs takes ten minutes at most, and is retried for each ref of a push. */
const OVER = HOUR
/** The git process of a killed process ends shortly after it. Refs that have not moved by then never will. */
const ORPHAN_OVER = MINUTE / 12

export const finishChanges = job(
  'repository.finish_changes',
  async (app) => {
    const repositories = await app.db
      .selectFrom('pending_changes')
      .select(['project_id', 'wiki'])
      .distinct()
      .where((eb) => eb.or([eb('created_at', '<=', after(app.clock, -SETTLED)), hasHolderEnded('holder')]))
      .execute()
    for (const { project_id, wiki } of repositories) {
      const project = await findProjectById(app.db, project_id)
      if (project) await finishIn(app, project, wiki)
    }
  },
  { every: SETTLED, long: true, recovers: true },
)

interface Orphans {
  readonly row: Row<'pending_changes'>
  /** The process of the change has ended. */
  readonly isOrphan: boolean
  readonly updates: readonly Update[]
}

async function finishIn(app: App, project: Project, wiki: boolean): Promise<void> {
  const before = await newestEvent(app)
  const seen = await pending(app, project, wiki)
  if (seen.length === 0) return // another process published the change meanwhile
  const names = new Set(seen.flatMap(({ updates }) => updates.map(({ ref }) => ref)))
  const state = await valuesOf(wiki ? wikiDir(app, project) : repositoryDir(app, project), names)
  // The order of these reads matters: a change that is published meanwhile appears in one of them.
  const rows = await pending(app, project, wiki)
  const announced = await announcedMoves(app, project, wiki, seen[0]!.row.created_at)

  const settled = after(app.clock, -SETTLED)
  const isFresh = ({ row, isOrphan }: Orphans) => row.created_at > settled && !isOrphan
  // If a ref is moving right now, its value is not final. A later run handles it.
  const moving = new Set([
    ...rows.filter(isFresh).flatMap(({ updates }) => updates.map(({ ref }) => ref)),
    ...announced.filter(({ id }) => id > before).map(({ ref }) => ref),
  ])
  const left = rows.filter((one) => !isFresh(one) && one.updates.every(({ ref }) => !moving.has(ref)))
  const moves = movesOf(left, announced, state)
  for (const one of left) await finish(app, project, one, moves.get(one) ?? [])
}

async function newestEvent({ db }: App): Promise<number> {
  const { id } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('id').as('id'))
    .executeTakeFirstOrThrow()
  return Number(id ?? 0)
}

async function pending({ db }: App, project: Project, wiki: boolean): Promise<Orphans[]> {
  const rows = await db
    .selectFrom('pending_changes')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('wiki', '=', wiki)
    .orderBy('id')
    .execute()
  const gone = await findEnded(
    db,
    rows.map(({ holder }) => holder),
  )
  return rows.map((row) => ({
    row,
    isOrphan: row.holder !== null && gone.has(row.holder),
    updates: JSON.parse(row.updates) as Update[],
  }))
}

async function valuesOf(dir: string, refs: ReadonlySet<string>): Promise<Map<string, string | null>> {
  const values = new Map<string, string | null>()
  const isThere = await repositoryExists(dir)
  for (const ref of refs) values.set(ref, isThere ? await resolveRef(dir, ref) : null)
  return values
}

interface Move extends Update {
  /** The id of the event. Infinity if the move is not published yet. */
  readonly id: number
  readonly at: string
}

/** How far back to search for the value of a ref at the start of a change. */
const BACK = HOUR

async function announcedMoves({ db }: App, project: Project, wiki: boolean, since: string): Promise<Move[]> {
  const start = new Date(Date.parse(since) - BACK).toISOString()
  const events = await db
    .selectFrom('events')
    .select(['id', 'payload', 'created_at'])
    .where('name', '=', 'repository.changed')
    .where('created_at', '>=', start)
    // Recovered events have larger ids than their time suggests.
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return events.flatMap(({ id, payload, created_at: at }) => {
    const event = JSON.parse(payload) as Events['repository.changed']
    const isOfRepository = event.project_id === project.id && event.wiki === wiki
    return isOfRepository ? event.updates.map((update) => ({ ...update, id, at })) : []
  })
}

/** Finds the updates that happened. Starts with the newest change: its old value is the new value of an earlier one. */
function movesOf(
  left: readonly Orphans[],
  announced: readonly Move[],
  state: ReadonlyMap<string, string | null>,
): Map<Orphans, Update[]> {
  const known = Map.groupBy(announced, ({ ref }) => ref)
  const moves = new Map<Orphans, Update[]>()
  for (const one of left.toReversed()) {
    const at = one.row.created_at
    const moved = one.updates.filter((update) =>
      cameAbout(update, at, known.get(update.ref) ?? [], state.get(update.ref) ?? null),
    )
    moves.set(one, moved)
    for (const update of moved) {
      const move = { ...update, id: Infinity, at }
      known.set(update.ref, [...(known.get(update.ref) ?? []), move])
    }
  }
  return moves
}

/**
 * A ref reached a value as often as it left that value again, plus once if it has the value now. If that exceeds the
 * published moves, and the ref did not start with the value, this change happened. Otherwise another change made the
 * same move.
 */
function cameAbout({ before, after }: Update, at: string, moves: readonly Move[], state: string | null): boolean {
  const earlier = moves.findLast((move) => move.at < at)
  const later = moves.filter((move) => move.at >= at)
  const stood = earlier ? earlier.after : before
  const came = later.filter((move) => move.before === after).length + Number(state === after)
  const known = later.filter((move) => move.after === after).length + Number(stood === after)
  return came > known
}

async function finish(app: App, project: Project, left: Orphans, moved: readonly Update[]): Promise<void> {
  const { row, updates, isOrphan } = left
  const isPast = (ms: number) => row.created_at <= after(app.clock, -ms)
  if (moved.length === 0) return void (isPast(OVER) && (await dropChange(app, row)))
  const isOver = isPast(isOrphan && updates.length < MANY ? ORPHAN_OVER : OVER)
  if (moved.length < updates.length && !isOver) return
  const { id, wiki, user_id: by, created_at: at } = row
  const options = JSON.parse(row.options) as string[]
  const merging = row.merging || undefined
  const page = row.page === null ? null : (JSON.parse(row.page) as ChangedPage)
  await recordChange(app, { id, project, wiki, by, at, options, merging, page, undoes: row.undoes }, moved)
}
