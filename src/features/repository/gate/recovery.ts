/**
 * Changes whose process ended between moving the refs and telling of it. What did happen is told as always, by whoever
 * takes the row; that its own process might live after all does no harm, as it then finds nothing to tell. What did not
 * happen is given up only when no process can still be at it.
 */
import { HOUR, MINUTE, after } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { MANY } from '../../../git/refs/update.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { findEnded, hasHolderEnded } from '../../../jobs/processes.ts'
import type { Events, Row } from '../../../store/database.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { repositoryDir, wikiDir } from '../../projects/projects/repository.ts'
import { dropChange, recordChange } from './changes.ts'
import type { ChangedPage } from './model.ts'
import type { Update } from './updates.ts'

/** Between the two steps lie milliseconds; who needs longer is dead, or finds that others have told. */
const SETTLED = MINUTE / 2
/** To move refs takes ten minutes at most, and is tried once more for each of a push. */
const OVER = HOUR
/** The git of a process that was killed ends soon after it: what it has moved by then is all that moves. */
const ORPHAN_OVER = MINUTE / 12

export const finishChanges = job(
  'repository.finish_changes',
  async (app) => {
    const places = await app.db
      .selectFrom('pending_changes')
      .select(['project_id', 'wiki'])
      .distinct()
      .where((eb) => eb.or([eb('created_at', '<=', after(app.clock, -SETTLED)), hasHolderEnded('holder')]))
      .execute()
    for (const { project_id, wiki } of places) {
      const project = await findProjectById(app.db, project_id)
      if (project) await finishIn(app, project, wiki)
    }
  },
  { every: SETTLED, long: true, recovers: true },
)

interface Orphans {
  readonly row: Row<'pending_changes'>
  /** Its process is no more. */
  readonly isOrphan: boolean
  readonly updates: readonly Update[]
}

async function finishIn(app: App, project: Project, wiki: boolean): Promise<void> {
  const before = await newestEvent(app)
  const seen = await pending(app, project, wiki)
  if (seen.length === 0) return // told by somebody else meanwhile
  const names = new Set(seen.flatMap(({ updates }) => updates.map(({ ref }) => ref)))
  const state = await valuesOf(wiki ? wikiDir(app, project) : repositoryDir(app, project), names)
  // Asked in this order nothing slips through: what was told meanwhile shows in one or the other.
  const rows = await pending(app, project, wiki)
  const told = await toldOf(app, project, wiki, seen[0]!.row.created_at)

  const settled = after(app.clock, -SETTLED)
  const isFresh = ({ row, isOrphan }: Orphans) => row.created_at > settled && !isOrphan
  // Where a ref is on the move right now, its place says nothing yet: another time.
  const moving = new Set([
    ...rows.filter(isFresh).flatMap(({ updates }) => updates.map(({ ref }) => ref)),
    ...told.filter(({ id }) => id > before).map(({ ref }) => ref),
  ])
  const left = rows.filter((one) => !isFresh(one) && one.updates.every(({ ref }) => !moving.has(ref)))
  const moves = movesOf(left, told, state)
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
  /** Of the event; newer than any where it is still to be told. */
  readonly id: number
  readonly at: string
}

/** How far back we look for where a ref was when a change began. */
const BACK = HOUR

async function toldOf({ db }: App, project: Project, wiki: boolean, since: string): Promise<Move[]> {
  const start = new Date(Date.parse(since) - BACK).toISOString()
  const events = await db
    .selectFrom('events')
    .select(['id', 'payload', 'created_at'])
    .where('name', '=', 'repository.changed')
    .where('created_at', '>=', start)
    // Those told by us came later than they happened.
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return events.flatMap(({ id, payload, created_at: at }) => {
    const event = JSON.parse(payload) as Events['repository.changed']
    const isHere = event.project_id === project.id && event.wiki === wiki
    return isHere ? event.updates.map((update) => ({ ...update, id, at })) : []
  })
}

/** Which updates came about. The newest first: what it moved from, another has moved to. */
function movesOf(
  left: readonly Orphans[],
  told: readonly Move[],
  state: ReadonlyMap<string, string | null>,
): Map<Orphans, Update[]> {
  const known = Map.groupBy(told, ({ ref }) => ref)
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
 * A ref came to a value as often as it left it again or stands there now. If that is more often than was told, and it
 * was not there to begin with, the change came about; if not, somebody else made the same one.
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
  await recordChange(app, { id, project, wiki, by, at, options, merging, page }, moved)
}
