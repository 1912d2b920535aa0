import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'

const BATCH = 500

// oxlint-disable-next-line no-explicit-any -- the tables of that time
type Then = Kysely<any>

/** Comments on commits become notes. */
export async function up(db: Then): Promise<void> {
  for (let last = 0; ;) {
    const comments = await db
      .selectFrom('commit_comments')
      .selectAll()
      .where('id', '>', last)
      .orderBy('id')
      .limit(BATCH)
      .execute()
    if (comments.length === 0) break
    last = Number(comments.at(-1)!['id'])
    await db.insertInto('notes').values(comments.map(noteOf)).execute()
  }
  await db.schema.dropTable('commit_comments').execute()
}

function noteOf({ project_id, sha, note, path, line, line_type, author_id, created_at }: Record<string, unknown>) {
  const position = path === null ? null : JSON.stringify(positionOf(sha, path, line, line_type))
  return {
    project_id,
    commit_sha: sha,
    discussion_id: randomBytes(20).toString('hex'),
    type: position === null ? null : 'DiffNote',
    author_id,
    body: note,
    position,
    created_at,
    updated_at: created_at,
  }
}

/** The commit it was compared with is known only to the repository. */
function positionOf(sha: unknown, path: unknown, line: unknown, side: unknown) {
  return {
    base_sha: null,
    start_sha: null,
    head_sha: sha,
    old_path: path,
    new_path: path,
    position_type: 'text',
    old_line: side === 'old' ? line : null,
    new_line: side === 'old' ? null : line,
    line_range: null,
  }
}
