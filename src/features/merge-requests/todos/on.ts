import { on, type App } from '../../../context.ts'
import type { Subscription } from '../../../jobs/worker.ts'
import { findUser } from '../../identity/users/queries.ts'
import { targetOfItem } from '../../planning/items/kind.ts'
import { itemReaders } from '../../planning/items/readers.ts'
import { addTodos, finishTodos } from '../../planning/todos/service.ts'
import { findProjectSubject } from '../../projects/projects/queries.ts'
import { mergeRequestKind } from '../merge-requests/kind.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { mergeRequestRules } from '../merge-requests/rules.ts'

/** A push, an approval or a merge marks the to-do items of its user as done. */
const finish = (app: App, { id, by }: { id: number; by: number | null }) =>
  finishTodos(app, by!, { merge_request_id: id })
const bySomebody = { when: ({ by }: { by: number | null }) => by !== null }

const pushed = on('merge_request.pushed', 'todos', finish, bySomebody)
const approved = on('merge_request.approved', 'todos', finish)
const merged = on('merge_request.merged', 'todos', finish, bySomebody)

/** For the user who enabled auto-merge. */
const unmergeable = on('merge_request.unmergeable', 'todos', async (app, { id }, { source }) => {
  const [one] = await findMergeRequests(app.db, [id])
  if (one?.state !== 'opened' || one.merge_user_id === null) return
  await tell(app, one, 'unmergeable', one.merge_user_id, [one.merge_user_id], source)
})

/** For the users who wait for the merge. */
const buildFailed = on(
  'pipeline.changed',
  'todos',
  async (app, { id }, { source }) => {
    const failed = await app.db
      .selectFrom('pipelines')
      .select(['project_id', 'sha', 'source_sha', 'user_id'])
      .where('id', '=', id)
      .where('status', '=', 'failed')
      .executeTakeFirst()
    if (!failed) return
    for (const one of await openAt(app, { project_id: failed.project_id, sha: failed.source_sha ?? failed.sha })) {
      const people = [one.author_id, one.auto_merge ? one.merge_user_id : null].filter((user) => user !== null)
      await tell(app, one, 'build_failed', failed.user_id, people, source && `${source}.${one.id}`)
    }
  },
  { when: ({ status }) => status === 'failed' },
)

/** A commit may be the head of several merge requests: in its own project and in the one it was forked from. */
async function openAt({ db }: App, { project_id, sha }: { project_id: number; sha: string }): Promise<MergeRequest[]> {
  const open = db.selectFrom('merge_requests').selectAll().where('head_sha', '=', sha).where('state', '=', 'opened')
  const [own, elsewhere] = await Promise.all([
    open.where('project_id', '=', project_id).execute(),
    open.where('source_project_id', '=', project_id).where('project_id', '!=', project_id).execute(),
  ])
  return [...own, ...elsewhere]
}

/** Of these users, those who may still see the merge request. */
async function tell(
  app: App,
  one: MergeRequest,
  action: 'unmergeable' | 'build_failed',
  by: number | null,
  people: readonly number[],
  source: string | null,
): Promise<void> {
  const causer = by === null ? null : await findUser(app.db, by)
  const subject = await findProjectSubject(app, String(one.project_id), causer)
  if (!subject) return
  const target = targetOfItem(mergeRequestKind, one)
  for (const { id } of await itemReaders(app, mergeRequestRules, subject, people, one))
    await addTodos(app, { target, by: causer?.id ?? id, action, source }, [id])
}

export const reactions: Subscription<App>[] = [pushed, approved, merged, unmergeable, buildFailed]
