import type { Page, PageRequest } from '../../../api/pages.ts'
import type { App } from '../../../context.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { presentUserSummary } from '../../identity/users/entity.ts'
import { surroundings } from '../../identity/users/queries.ts'
import type { ReviewerRecord } from './entity.ts'
import type { MergeRequest } from './model.ts'

export async function listReviewers(app: App, { id }: MergeRequest, page: PageRequest): Promise<Page<ReviewerRecord>> {
  const reviewers = app.db
    .selectFrom('merge_request_reviewers as r')
    .innerJoin('users', 'users.id', 'r.user_id')
    .selectAll('users')
    .select(['r.state as review', 'r.created_at as asked_at'])
    .where('r.merge_request_id', '=', id)
    .orderBy('r.user_id')
  const { items, total } = await pageOfQuery(reviewers, page)
  const around = await surroundings(app)
  return {
    total,
    items: items.map(({ review, asked_at, ...user }) => ({
      user: presentUserSummary(user, around),
      state: review,
      created_at: asked_at,
    })),
  }
}
