/** To-do items for users whom approval rules name. */
import type { App } from '../../../context.ts'
import { addTodos } from '../../planning/todos/service.ts'
import { eligibleApprovers, judgementsOf } from '../approvals/queries.ts'
import type { MergeRequest } from '../merge-requests/model.ts'

/** Ids of the users these rules name who may approve. */
export async function approversIn(app: App, rules: readonly number[]): Promise<Set<number>> {
  return new Set((await eligibleApprovers(app.db, rules)).map(({ user_id }) => user_id))
}

/** Asks the approvers of a new merge request. */
export async function askNewApprovers(
  app: App,
  one: Pick<MergeRequest, 'id' | 'project_id' | 'author_id'>,
  by: number,
  source: string | null,
): Promise<void> {
  const judgement = (await judgementsOf(app.db, [one])).get(one.id)
  const asking = (judgement?.rules ?? []).flatMap(({ rule, required }) =>
    rule?.rule_type === 'regular' && required > 0 ? rule.id : [],
  )
  await askApprovers(app, one, by, await approversIn(app, asking), source)
}

/** Authors get no to-do item for their own merge request. */
export async function askApprovers(
  app: App,
  { id, project_id, author_id }: Pick<MergeRequest, 'id' | 'project_id' | 'author_id'>,
  by: number,
  people: Iterable<number>,
  source: string | null = null,
): Promise<void> {
  const target = { project_id, merge_request_id: id }
  const others = [...people].filter((user) => user !== author_id && user !== by)
  await addTodos(app, { target, by, action: 'approval_required', source }, others)
}
