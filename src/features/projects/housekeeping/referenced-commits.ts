/**
 * The commits of a project's repository that rows reference. Housekeeping keeps these commits when it prunes, and
 * `mortise check` verifies that they exist.
 */
import { sql } from 'kysely'
import type { Db, Tables } from '../../../store/database.ts'

interface Naming<T extends keyof Tables = keyof Tables> {
  readonly table: T
  /** The column that leads to the project. */
  readonly by: 'project_id' | 'merge_request_id'
  readonly columns: readonly string[]
  /** JSON with `base_sha`, `start_sha` and `head_sha`. */
  readonly positions: readonly string[]
}

const naming = <T extends keyof Tables>(
  table: T,
  by: Naming['by'] & keyof Tables[T],
  columns: readonly (keyof Tables[T] & string)[],
  positions: readonly (keyof Tables[T] & string)[] = [],
): Naming<T> => ({ table, by, columns, positions })

const MERGE_REQUESTS = naming('merge_requests', 'project_id', [
  'head_sha',
  'base_sha',
  'start_sha',
  'merge_commit_sha',
  'squash_commit_sha',
])

export const NAMINGS: readonly Naming[] = [
  MERGE_REQUESTS,
  naming('merge_request_versions', 'merge_request_id', ['head_sha', 'base_sha', 'start_sha']),
  naming('notes', 'merge_request_id', ['thread_commit_sha'], ['position', 'original_position']),
  naming('draft_notes', 'merge_request_id', ['commit_sha'], ['position']),
  naming('notes', 'project_id', ['commit_sha'], ['position']),
  naming('pipelines', 'project_id', ['sha', 'source_sha', 'target_sha']),
  naming('deployments', 'project_id', ['sha']),
  naming('releases', 'project_id', ['sha']),
]

/** Columns that also name commits, and why they are not included. */
export const NOT_LOOKED_FOR: Readonly<Record<string, string>> = {
  'activities.push': 'history: a forced push may have replaced them',
  'ci_jobs.sha': 'that of its pipeline',
  'deleted_commits.sha': 'nobody reads them: kept like the old values of branches (undo.ts)',
  'lfs_objects.oid': 'the digest of a blob',
  'merge_request_commits.sha': 'below the head of a version',
  'merge_request_ownership.base_sha': 'found anew when it is asked for',
  'merge_request_ownership.head_sha': 'found anew when it is asked for',
  'merge_requests.check_head': 'found anew when it is asked for',
  'merge_requests.check_target': 'found anew when it is asked for',
  'merge_requests.merging': 'about to be made',
  'merge_targets.sha': 'the tip of a branch at the last look',
  'pending_changes.merging': 'whether a merge request makes it',
  'pending_changes.updates': 'about to be made',
  'pipelines.before_sha': 'history: a forced push may have replaced it',
  'suggestions.commit_sha': 'in the source, which may be another project or gone',
  'text_group_mentions.source_sha': 'a text, which may outlive its commit',
  'text_mentions.source_sha': 'a text, which may outlive its commit',
  'text_references.source_sha': 'a text, which may outlive its commit',
  'text_references.target_sha': 'a text may name what is not there',
  'todos.commit_sha': 'that of the note it came of',
}

export interface ReferencedCommit {
  readonly table: string
  readonly id: number
  readonly column: string
  readonly sha: string
}

const ROWS_A_PAGE = 1000
/** Smaller, because each merge request has many notes. */
const MERGE_REQUESTS_A_PAGE = 100

/** Yields pages; the same commit may appear many times. */
export async function* referencedCommits(db: Db, project: number): AsyncGenerator<ReferencedCommit[]> {
  for (const naming of NAMINGS)
    if (naming.by === 'project_id')
      for await (const rows of rowsOf(db, naming, [project])) yield commitsIn(naming, rows)
  const ofMergeRequests = NAMINGS.filter(({ by }) => by === 'merge_request_id')
  for await (const rows of rowsOf(db, MERGE_REQUESTS, [project], MERGE_REQUESTS_A_PAGE)) {
    const ids = rows.map(({ id }) => id)
    for (const naming of ofMergeRequests)
      for await (const inner of rowsOf(db, naming, ids)) yield commitsIn(naming, inner)
  }
}

type NamingRow = { readonly id: number } & Readonly<Record<string, string | null>>

async function* rowsOf(
  db: Db,
  naming: Naming,
  owners: readonly number[],
  limit = ROWS_A_PAGE,
): AsyncGenerator<NamingRow[]> {
  const { table, by, columns, positions } = naming
  const named = [...columns, ...positions].map((column) => sql.ref(column))
  // Of a project's notes, only notes on commits count. A separate index covers them.
  const deciding = table === 'notes' && by === 'project_id' ? [sql.ref('commit_sha')] : named
  const isNaming = sql.join(
    deciding.map((column) => sql`${column} is not null`),
    sql` or `,
  )
  for (let last = 0; ;) {
    const { rows } = await sql<NamingRow>`select id, ${sql.join(named)} from ${sql.table(table)}
      where ${sql.ref(by)} in (${sql.join(owners)}) and (${isNaming}) and id > ${last} order by id limit ${limit}`.execute(
      db,
    )
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    last = rows.at(-1)!.id
  }
}

const ENDS = ['base_sha', 'start_sha', 'head_sha'] as const

function commitsIn({ table, columns, positions }: Naming, rows: readonly NamingRow[]): ReferencedCommit[] {
  return rows.flatMap((row) => {
    const own = columns.map((column) => ({ column, sha: row[column] }))
    const inside = positions.flatMap((column) => {
      const position = JSON.parse(row[column] ?? '{}') as Partial<Record<(typeof ENDS)[number], string | null>>
      return ENDS.map((end) => ({ column: `${column}.${end}`, sha: position[end] }))
    })
    return [...own, ...inside].flatMap(({ column, sha }) => (sha ? [{ table, id: row.id, column, sha }] : []))
  })
}
