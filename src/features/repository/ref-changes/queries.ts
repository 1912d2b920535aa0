import { sql } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import type { Db } from '../../../store/database.ts'
import { withUsers } from '../../identity/users/queries.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { wikiDir } from '../../projects/repositories/repository.ts'
import { repository } from '../repositories/queries.ts'
import { wiki } from '../wikis/queries.ts'
import type { LoadedRefChange } from './entity.ts'
import type { RefChange } from './model.ts'

export interface ListedRefChange extends RefChange {
  /** No later change of the ref is recorded. */
  readonly current: boolean
}

/** The refs of the repository, or of the wiki. */
export interface Refs {
  readonly project: Pick<Project, 'id'>
  readonly wiki: boolean
}

const changesOf = (db: Db, { project, wiki }: Refs) =>
  db
    .selectFrom('ref_changes')
    .selectAll()
    .select(isCurrent().as('current'))
    .where('project_id', '=', project.id)
    .where('wiki', '=', wiki)

/** Asks the index for one row, however often the ref has changed. */
const isCurrent = () =>
  sql<boolean>`not exists (select 1 from ref_changes later where later.project_id = ref_changes.project_id
    and later.wiki = ref_changes.wiki and later.ref = ref_changes.ref and later.id > ref_changes.id)`

const missedAs = { name: 'Ref Change', key: 'change', params: { change_id: id } } as const

export const refChange = child(repository, {
  ...missedAs,
  find: ({ db }, { project }, { change_id }) =>
    changesOf(db, { project, wiki: false }).where('id', '=', change_id).executeTakeFirst(),
})

export const wikiRefChange = child(wiki, {
  ...missedAs,
  find: ({ db }, { project }, { change_id }) =>
    changesOf(db, { project, wiki: true }).where('id', '=', change_id).executeTakeFirst(),
})

/** Newest first, without a total: a mirror makes many. */
export async function listRefChanges(
  db: Db,
  refs: Refs,
  { ref }: { ref?: string | null | undefined },
  { limit, offset }: PageRequest,
): Promise<Page<LoadedRefChange>> {
  let query = changesOf(db, refs).orderBy('id', 'desc')
  if (ref) query = query.where('ref', '=', ref)
  const found = await query
    .limit(limit + 1)
    .offset(offset)
    .execute()
  return { items: await loadRefChanges(db, found.slice(0, limit)), total: offset + found.length, more: true }
}

export async function loadRefChanges(db: Db, rows: readonly ListedRefChange[]): Promise<LoadedRefChange[]> {
  // SQLite answers with a number.
  const listed = rows.map((row) => ({ ...row, current: Boolean(row.current) }))
  return withUsers(db, listed, { user: 'user_id' })
}

const LONGEST_MESSAGE = 200

/** The first lines of the newest commits of the changes of a wiki, read at once. */
export async function messagesOf(
  app: App,
  project: Project,
  changes: readonly RefChange[],
): Promise<(string | null)[]> {
  const dir = wikiDir(app, project)
  if (!(await repositoryExists(dir))) return []
  const ids = [...new Set(changes.flatMap(({ after }) => after ?? []))]
  const commits = await findCommits(dir, ids)
  const byId = new Map(commits.flatMap((commit) => (commit ? [[commit.id, commit.message] as const] : [])))
  return changes.map(
    ({ after }) =>
      byId
        .get(after ?? '')
        ?.split('\n', 1)[0]!
        .slice(0, LONGEST_MESSAGE) ?? null,
  )
}

/** The change that moved the ref back. */
export const findUndo = (db: Db, refs: Refs, { id, ref, before, after }: RefChange): Promise<ListedRefChange> =>
  changesOf(db, refs)
    .where('ref', '=', ref)
    .where('id', '>', id)
    .where('before', after === null ? 'is' : '=', after)
    .where('after', before === null ? 'is' : '=', before)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()

/** The change that added this commit. */
export const findWikiChangeTo = (db: Db, refs: Refs, { ref }: RefChange, commit: string): Promise<ListedRefChange> =>
  changesOf(db, refs).where('ref', '=', ref).where('after', '=', commit).orderBy('id', 'desc').executeTakeFirstOrThrow()
