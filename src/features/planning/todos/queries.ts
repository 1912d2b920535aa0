import { sql, type RawBuilder } from 'kysely'
import { z } from 'zod'
import { policy, resource } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { Reporter } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { pageOfQuery, type Cut, type Page } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { presentSimpleProject, type LoadedProject } from '../../projects/projects/entity.ts'
import { addresses, loadProjects } from '../../projects/projects/load.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import { presentCommit, type CommitRecord } from '../../repository/commits/entity.ts'
import { presentIssues } from '../issues/load.ts'
import { subscribedAmong } from '../issues/participants.ts'
import { findIssues } from '../issues/queries.ts'
import { LEVEL, isOn, isOpen, isReadable, seesIssue, seesMergeRequest, seesMergeRequests } from '../seeing.ts'
import { presentTodo, type MergeRequestTarget } from './entity.ts'
import type { Todo, TodoAction } from './model.ts'

export interface TodoFilter {
  readonly action?: TodoAction | null | undefined
  readonly author_id?: number | null | undefined
  readonly project_id?: number | null | undefined
  readonly group_id?: number | null | undefined
  readonly state?: 'pending' | 'done' | null | undefined
  readonly type?: string | null | undefined
}

/** Whether they still see what waits, and the note it came of. */
function isSeenBy(viewer: User): RawBuilder<boolean> {
  if (viewer.admin) return sql`exists (select 1 from projects p where p.id = todos.project_id and not p.deleting)`
  const way = { internalToo: openVisibilities(viewer).includes('internal') }
  const isReporter = sql<boolean>`${LEVEL} >= ${sql.lit(Reporter)}`
  const seesNote = sql<boolean>`(${isReporter}
    or not exists (select 1 from notes n where n.id = todos.note_id and n.internal))`
  const seesNoted = sql<boolean>`(i.id is not null and ${seesIssue(viewer.id)} and ${seesNote})`
  const seesCommit = sql<boolean>`(todos.commit_sha is not null and ${isOn('repository')}
    and (${isReporter} or ${isOpen(way)}))`
  const seesRequest = sql<boolean>`(m.id is not null and ${seesMergeRequest(viewer.id, way)} and ${seesNote})`
  return sql`exists (select 1 from projects p left join issues i on i.id = todos.issue_id
    left join merge_requests m on m.id = todos.merge_request_id
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${viewer.id}
    where p.id = todos.project_id and not p.deleting and ${isReadable(way)}
    and (${seesNoted} or ${seesCommit} or ${seesRequest}))`
}

/** Whether they see the issues or the merge requests of its project, which is enough for what is not reserved. */
function isOpenTo(viewer: User): RawBuilder<boolean> {
  if (viewer.admin) return isSeenBy(viewer)
  const way = { internalToo: openVisibilities(viewer).includes('internal') }
  return sql`exists (select 1 from projects p
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${viewer.id}
    where p.id = todos.project_id and not p.deleting and ${isReadable(way)}
    and case when todos.of_request = 1 then ${seesMergeRequests(way)} else ${isOn('issues')} end)`
}

/** Whether they see them or not. */
function ownTodos(db: Db, viewer: User, { action, author_id, project_id, group_id, state, type }: TodoFilter) {
  return db
    .selectFrom('todos')
    .where('user_id', '=', viewer.id)
    .where('state', '=', state ?? 'pending')
    .$if(Boolean(action), (query) => query.where('action', '=', action!))
    .$if(Boolean(author_id), (query) => query.where('author_id', '=', author_id!))
    .$if(Boolean(project_id), (query) => query.where('project_id', '=', project_id!))
    .$if(Boolean(group_id), (query) =>
      query.where(sql<boolean>`project_id in (select p.id from projects p
        join namespace_ancestors a on a.namespace_id = p.namespace_id where a.ancestor_id = ${group_id})`),
    )
    .$if(type === 'Issue', (query) => query.where('issue_id', 'is not', null))
    .$if(type === 'MergeRequest', (query) => query.where('merge_request_id', 'is not', null))
    .$if(type === 'Commit', (query) => query.where('commit_sha', 'is not', null))
    .$if(Boolean(type) && !['Issue', 'MergeRequest', 'Commit'].includes(type!), (query) =>
      query.where(sql<boolean>`1 = 0`),
    )
}

/** Newest first. */
const todosOf = (db: Db, viewer: User, filter: TodoFilter) =>
  ownTodos(db, viewer, filter).selectAll().where(isSeenBy(viewer)).orderBy('id', 'desc')

/**
 * What is reserved is looked at one by one, all else by its project; so are merge requests of projects where the viewer
 * sees those alone that are theirs.
 */
async function countTodos(db: Db, viewer: User, filter: TodoFilter): Promise<number> {
  const open = ownTodos(db, viewer, filter)
    .where('reserved', '=', false)
    .groupBy(['project_id', isOfRequest])
    .select(['project_id', isOfRequest.as('of_request'), sql<number>`count(*)`.as('total')])
  const closed = db
    .selectFrom(open.as('todos'))
    .select('todos.project_id')
    .where(sql<boolean>`not ${isOpenTo(viewer)}`)
  const [ofProjects, theirs, reserved] = await Promise.all([
    db
      .selectFrom(open.as('todos'))
      .where(isOpenTo(viewer))
      .select(sql<number>`coalesce(sum(todos.total), 0)`.as('total'))
      .executeTakeFirstOrThrow(),
    ownTodos(db, viewer, filter)
      .where('reserved', '=', false)
      .where('merge_request_id', 'is not', null)
      .where('project_id', 'in', closed.where('todos.of_request', '=', 1))
      .where(isSeenBy(viewer))
      .select(sql<number>`count(*)`.as('total'))
      .executeTakeFirstOrThrow(),
    ownTodos(db, viewer, filter)
      .where('reserved', '=', true)
      .where(isSeenBy(viewer))
      .select(sql<number>`count(*)`.as('total'))
      .executeTakeFirstOrThrow(),
  ])
  return Number(ofProjects.total) + Number(theirs.total) + Number(reserved.total)
}

const isOfRequest = sql<number>`case when merge_request_id is null then 0 else 1 end`

export const listTodos = ({ db }: App, viewer: User, filter: TodoFilter, page: Cut): Promise<Page<Todo>> =>
  pageOfQuery(todosOf(db, viewer, filter), page, () => countTodos(db, viewer, filter))

export const pendingIds = async ({ db }: App, viewer: User, filter: TodoFilter): Promise<number[]> =>
  (
    await todosOf(db, viewer, { ...filter, state: 'pending' })
      .clearSelect()
      .select('id')
      .execute()
  ).map(({ id }) => id)

/** Those that the user sees. */
export const countPendingTodos = ({ db }: App, viewer: User): Promise<number> => countTodos(db, viewer, {})

/** `/todos/:id`: one's own. */
export const todo = resource({
  params: z.object({ id }),
  policy: policy<{ readonly todo: Todo; readonly viewer: User | null }>()({
    read: ({ todo, viewer }) => viewer !== null && todo.user_id === viewer.id,
  }),
  async find(app, { id }, viewer) {
    if (!viewer) return null
    const todo = await app.db
      .selectFrom('todos')
      .selectAll()
      .where('id', '=', id)
      .where(isSeenBy(viewer))
      .executeTakeFirst()
    return todo && { todo, viewer }
  },
})

/** How merge requests are shown, by those who know them. */
export type PresentMergeRequests = (app: App, viewer: User, ids: readonly number[]) => Promise<MergeRequestTarget[]>

/** The records of a page, in a fixed number of queries. */
export async function presentTodos(
  app: App,
  viewer: User,
  todos: readonly Todo[],
  presentRequests: PresentMergeRequests,
) {
  if (todos.length === 0) return []
  const { db } = app
  const issueIds = [...new Set(todos.flatMap(({ issue_id }) => issue_id ?? []))]
  const projectIds = [...new Set(todos.map(({ project_id }) => project_id))].map((id) => ({ id }))
  const noteIds = todos.flatMap(({ note_id }) => note_id ?? [])
  const requestIds = [...new Set(todos.flatMap(({ merge_request_id }) => merge_request_id ?? []))]
  const [around, people, projects, issues, requests, subscribed, notes] = await Promise.all([
    surroundings(app),
    withUsers(db, todos, { author: 'author_id' }),
    loadProjects(db, viewer, projectIds),
    findIssues(db, issueIds).then((found) => presentIssues(app, viewer, found, { isMixed: true })),
    presentRequests(app, viewer, requestIds),
    subscribedAmong(db, viewer.id, issueIds),
    db
      .selectFrom('notes')
      .select(['id', 'body'])
      .where(inIdList(db, 'id', idList(db, noteIds)))
      .execute(),
  ])
  const commits = await commitsOf(app, projects, todos)
  return people.flatMap((todo) => {
    const issue = issues.find(({ id }) => id === todo.issue_id)
    const project = projects.find((one) => one.project.id === todo.project_id)
    const commit = commits.get(`${todo.project_id} ${todo.commit_sha}`)
    const request = requests.find(({ id }) => id === todo.merge_request_id)
    const target = issue ? { ...issue, subscribed: subscribed.has(issue.id) } : (request ?? commit)
    if (!project || !target) return [] // gone meanwhile
    const loaded = {
      ...todo,
      project: presentSimpleProject(project, addresses(app)),
      target,
      note: notes.find(({ id }) => id === todo.note_id) ?? null,
    }
    return [presentTodo(loaded, around)]
  })
}

/** Records of the commits that wait, read once for each project. */
async function commitsOf(app: App, projects: readonly LoadedProject[], todos: readonly Todo[]) {
  const found = new Map<string, CommitRecord>()
  for (const { project, namespace } of projects) {
    const own = todos.filter(({ project_id, commit_sha }) => project_id === project.id && commit_sha !== null)
    const shas = [...new Set(own.map(({ commit_sha }) => commit_sha!))]
    if (shas.length === 0) continue
    const url = webUrlOf(app, { project, namespace })
    for (const commit of await findCommits(repositoryDir(app, project), shas))
      if (commit) found.set(`${project.id} ${commit.id}`, presentCommit(commit, { url }))
  }
  return found
}
