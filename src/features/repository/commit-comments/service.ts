import type { Page, PageWish } from '../../../api/pages.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { HARD_LIMITS, commitDiff } from '../../../git/history/diffs.ts'
import type { Db, Row } from '../../../store/database.ts'
import { emit } from '../../../store/outbox.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { transact } from '../../../store/transact.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { isChangedLine, type Anchor } from './anchors.ts'

type Comment = Row<'commit_comments'>

export const listComments = (db: Db, project: number, sha: string, page: PageWish): Promise<Page<Comment>> =>
  pageOfQuery(
    db.selectFrom('commit_comments').selectAll().where('project_id', '=', project).where('sha', '=', sha).orderBy('id'),
    page,
  )

const LONGEST_NOTE = 65_536

/** A place that the commit did not change is forgotten, not refused. */
export async function commentCommit(
  app: App,
  author: User,
  { project, dir }: RepositorySubject,
  commit: Commit,
  { note, anchor }: { note: string; anchor: Anchor | null },
): Promise<Comment> {
  if (note.length > LONGEST_NOTE) throw invalid({ note: [`is too long (maximum is ${LONGEST_NOTE} characters)`] })
  const diff = anchor && (await commitDiff(dir, commit.id, { limits: HARD_LIMITS }))
  const place = anchor && diff && isChangedLine(diff.files, anchor) ? anchor : null
  return transact(app, async (app) => {
    const comment = await app.db
      .insertInto('commit_comments')
      .values({
        project_id: project.id,
        sha: commit.id,
        note,
        path: place?.path ?? null,
        line: place?.line ?? null,
        line_type: place?.line_type ?? null,
        author_id: author.id,
        created_at: timestamp(app.clock),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await emit(app, 'commit.commented', { id: comment.id })
    return comment
  })
}
