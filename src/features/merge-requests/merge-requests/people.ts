import type { App, User } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { levelOf, openVisibilities } from '../../access/authorizations/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { mergeRequestsPolicy } from './policy.ts'

/** Of these users, those who may see the project's merge requests. */
export async function readersAmong(app: App, target: RepositorySubject, ids: readonly number[]): Promise<User[]> {
  const wanted = [...new Set(ids)].filter((id) => id > 0)
  if (wanted.length === 0) return []
  const { db } = app
  const users = await db
    .selectFrom('users')
    .leftJoin('project_authorizations as mine', (join) =>
      join.onRef('mine.user_id', '=', 'users.id').on('mine.project_id', '=', target.project.id),
    )
    .selectAll('users')
    .select('mine.access_level')
    .where(inIdList(db, 'users.id', idList(db, wanted)))
    .orderBy('users.id')
    .execute()
  return users.filter(({ access_level, ...viewer }) => {
    const subject = { ...target, viewer, level: levelOf(viewer, access_level), open: openVisibilities(viewer) }
    return (
      viewer.state === 'active' && mergeRequestsPolicy.read(subject) && mergeRequestsPolicy.readMergeRequests(subject)
    )
  })
}
