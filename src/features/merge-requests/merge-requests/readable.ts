import type { App, User } from '../../../context.ts'
import { projectSubjects } from '../../planning/subjects.ts'
import type { MergeRequest } from './model.ts'
import { mergeRequestPolicy } from './policy.ts'
import { peopleOf } from './queries.ts'

/** Those of these that the viewer may see, of whatever projects; a fixed number of queries. */
export async function readableAmong(
  app: App,
  viewer: User | null,
  some: readonly MergeRequest[],
): Promise<MergeRequest[]> {
  if (some.length === 0) return []
  const ids = some.map(({ id }) => id)
  const [subjects, assigned, reviewing] = await Promise.all([
    projectSubjects(
      app,
      viewer,
      some.map(({ project_id }) => project_id),
    ),
    peopleOf(app.db, 'assignees', ids),
    peopleOf(app.db, 'reviewers', ids),
  ])
  const isAmong = (links: typeof assigned, id: number) =>
    links.some(({ merge_request_id, user_id }) => merge_request_id === id && user_id === viewer?.id)
  return some.filter((one) => {
    const subject = subjects.get(one.project_id)
    if (!subject) return false
    const mergeRequest = { ...one, assigned: isAmong(assigned, one.id), reviewing: isAmong(reviewing, one.id) }
    const met = { ...subject, dir: '', mergeRequest }
    return mergeRequestPolicy.read(met) && mergeRequestPolicy.readMergeRequest(met)
  })
}
