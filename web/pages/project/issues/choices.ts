/** Values that issues of a project can have: limited in number, and empty for viewers who may not see them. */
import type { PageRequest } from '../../../page.ts'

const per_page = 100

export function choicesFor({ api, params, me }: PageRequest) {
  const id = params.id!
  const some = <T>(list: Promise<T[] | null>) => list.then((found) => found ?? [])
  return {
    labels: some(api.maybe('/projects/{id}/labels', { id, per_page })),
    milestones: some(
      api.maybe('/projects/{id}/milestones', { id, per_page, state: 'active', include_ancestors: true }),
    ),
    people: me ? some(api.maybe('/projects/{id}/users', { id, per_page })) : [],
  }
}
