/** The version keys of issue records, in one query: the versions of all rows that a record shows. */
import { sql } from 'kysely'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList, jsonList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'

const versionKeys = hotQuery((db, p: { ids: string }) => {
  const labels = sql<string | null>`(select ${jsonList(db, sql`l.id || '.' || l.version`, 'l.id')} from issue_labels il
    join labels l on l.id = il.label_id where il.issue_id = issues.id)`
  const assignees = sql<string | null>`(select ${jsonList(db, sql`u.id || '.' || u.version`, 'u.id')}
    from issue_assignees a join users u on u.id = a.user_id where a.issue_id = issues.id)`
  return (
    db
      .selectFrom('issues')
      .innerJoin('projects as p', 'p.id', 'issues.project_id')
      .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
      .leftJoin('users as author', 'author.id', 'issues.author_id')
      .leftJoin('users as closer', 'closer.id', 'issues.closed_by_id')
      .leftJoin('milestones as m', 'm.id', 'issues.milestone_id')
      // A milestone belongs to the project of the issue, or to a group.
      .leftJoin('namespaces as g', 'g.id', 'm.group_id')
      .select(['issues.id', 'issues.version', 'issues.duplicated_to_id', 'm.due_date', labels.as('labels')])
      .select([
        'p.version as project',
        'n.version as namespace',
        'author.version as author',
        'closer.version as closer',
      ])
      .select(['m.version as milestone', 'g.version as group', assignees.as('assignees')])
      .where(inIdList(db, 'issues.id', p.ids))
  )
})

export type IssueVersion = Awaited<ReturnType<typeof versionKeys>>[number]

/** In the order of `issues`. Deleted issues are missing. */
export function issueVersions(db: Db, issues: readonly { id: number }[]): MaybePromise<IssueVersion[]> {
  if (issues.length === 0) return []
  return andThen(
    versionKeys(db, {
      ids: idList(
        db,
        issues.map(({ id }) => id),
      ),
    }),
    (found) => {
      const byId = new Map(found.map((versionKey) => [versionKey.id, versionKey]))
      return issues.map(({ id }) => byId.get(id)).filter((versionKey) => versionKey !== undefined)
    },
  )
}
