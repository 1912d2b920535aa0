import type { App, TransactionApp } from '../../../context.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { locksRows } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { putBack, type Part } from '../../../store/taking-out.ts'
import { transact } from '../../../store/transact.ts'
import type { Project } from '../../projects/projects/queries.ts'
import type { Release } from './model.ts'

interface Scope {
  readonly project: Pick<Project, 'id'>
  readonly by: number | null
}

export interface DeletedTag {
  readonly tag: string
  /** The record of the deletion, which can be undone. */
  readonly change: number
}

const TAGS_A_QUERY = 500
/** Fewer, because their descriptions are in memory. */
const RELEASES_A_QUERY = 20

/** Removes the releases of deleted tags, however the tags were deleted. A tag may have no release. */
export async function removeReleases(app: TransactionApp, scope: Scope, tags: readonly DeletedTag[]): Promise<void> {
  const changes = new Map(tags.map(({ tag, change }) => [tag, change]))
  for (const some of batchesOf(await tagsWithReleases(app, scope, [...changes.keys()]), RELEASES_A_QUERY)) {
    const releases = await lockReleases(app, scope, some)
    if (releases.length === 0) continue
    const partsOf = await readParts(app, releases)
    const rows = releases.map((release) => ({
      project_id: scope.project.id,
      ref_change_id: changes.get(release.tag)!,
      release_id: release.id,
      parts: JSON.stringify(partsOf(release)),
    }))
    await app.db.insertInto('deleted_releases').values(rows).execute()
    await deleteRows(app, scope, releases)
  }
}

async function tagsWithReleases(
  { db }: TransactionApp,
  { project }: Scope,
  tags: readonly string[],
): Promise<string[]> {
  const found: string[] = []
  for (const some of batchesOf(tags, TAGS_A_QUERY)) {
    const isAmong = db
      .selectFrom('releases')
      .select('tag')
      .where('project_id', '=', project.id)
      .where('tag', 'in', some)
    found.push(...(await isAmong.execute()).map(({ tag }) => tag))
  }
  return found
}

/** Deletes the release of a tag that stays. */
export async function deleteReleaseOfTag(app: App, scope: Scope, tag: string): Promise<void> {
  await transact(app, async (app) => deleteRows(app, scope, await lockReleases(app, scope, [tag])))
}

const lockReleases = async ({ db }: TransactionApp, { project }: Scope, tags: readonly string[]): Promise<Release[]> =>
  db
    .selectFrom('releases')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('tag', 'in', tags)
    .orderBy('id')
    .$if(locksRows(db), (query) => query.forUpdate())
    .execute()

/** The rows of a release, in the order in which they return. */
async function readParts({ db }: TransactionApp, releases: readonly Release[]): Promise<(release: Release) => Part[]> {
  const ids = releases.map(({ id }) => id)
  const links = await db.selectFrom('release_links').selectAll().where('release_id', 'in', ids).execute()
  const milestones = await db.selectFrom('release_milestones').selectAll().where('release_id', 'in', ids).execute()
  return (release) => {
    const own = <R extends { release_id: number }>(rows: readonly R[]) =>
      rows.filter(({ release_id }) => release_id === release.id)
    return [
      { table: 'releases', rows: [release] },
      { table: 'release_links', rows: own(links) },
      { table: 'release_milestones', rows: own(milestones) },
    ]
  }
}

async function deleteRows(app: TransactionApp, { project, by }: Scope, releases: readonly Release[]): Promise<void> {
  if (releases.length === 0) return
  // Emits before the deletion, so that subscribers can still read the release.
  for (const { id, tag } of releases) await emit(app, 'release.deleted', { id, project_id: project.id, tag, by })
  const ids = releases.map(({ id }) => id)
  await app.db.deleteFrom('releases').where('id', 'in', ids).execute()
}

/** Brings back the releases that a change removed, in the transaction that undoes the change. */
export async function returnReleases(app: TransactionApp, { project, by }: Scope, change: number): Promise<void> {
  const removed = await app.db
    .deleteFrom('deleted_releases')
    .where('project_id', '=', project.id)
    .where('ref_change_id', '=', change)
    .returning(['release_id', 'parts'])
    .execute()
  for (const { release_id: id, parts } of removed) {
    for (const part of JSON.parse(parts) as Part[]) await putBack(app, part)
    const release = await app.db.selectFrom('releases').select('id').where('id', '=', id).executeTakeFirst()
    if (release && by !== null) await emit(app, 'release.created', { id, project_id: project.id, by })
  }
}
