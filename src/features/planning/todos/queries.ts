import { sql, type RawBuilder } from 'kysely'
import { z } from 'zod'
import { policy, resource } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { Reporter } from '../../../lib/levels.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { longList, type At } from '../../../store/lists.ts'
import { assertSmallRows, type Cut, type Page } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { presentSimpleProject, type LoadedProject } from '../../projects/projects/entity.ts'
import { addresses, loadProjects } from '../../projects/projects/load.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { presentCommit, type CommitRecord } from '../../repository/commits/entity.ts'
import { itemIn, itemKinds } from '../items/registry.ts'
import { LEVEL, isOn, isOpen, isReadable, type SeenFrom } from '../seeing.ts'
import { presentTodo } from './entity.ts'
import type { Todo, TodoAction } from './model.ts'

/** Whether the user may still see the target and the note. */
function isSeenBy(viewer: User): RawBuilder<boolean> {
  if (viewer.admin) return isThere
  return sql`exists (${seeing(viewer.id, { internalToo: openVisibilities(viewer).includes('internal') })})`
}

/** Not `exists`: PostgreSQL would read all projects, once per page. */
const isThere = sql<boolean>`coalesce((select not p.deleting from projects p where p.id = todos.project_id), false)`

const isReporter = sql<boolean>`${LEVEL} >= ${sql.lit(Reporter)}`

const seesCommits = (from: SeenFrom) => sql<boolean>`(${isOn('repository')} and (${isReporter} or ${isOpen(from)}))`

function seeing(viewer: number, from: SeenFrom): RawBuilder<unknown> {
  const seesNote = sql<boolean>`(${isReporter}
    or not exists (select 1 from notes n where n.id = todos.note_id and n.internal))`
  const items = itemKinds().map(({ alias, table, column, sees }) => ({
    join: sql`left join ${sql.table(table)} ${sql.ref(alias)} on ${sql.ref(`${alias}.id`)} = ${sql.ref(`todos.${column}`)}`,
    isSeen: sql`(${sql.ref(`${alias}.id`)} is not null and ${sees(viewer, from)} and ${seesNote})`,
  }))
  return sql`select 1 from projects p
    ${sql.join(
      items.map(({ join }) => join),
      sql` `,
    )}
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${viewer}
    where p.id = todos.project_id and not p.deleting and ${isReadable(from)}
    and ((todos.commit_sha is not null and ${seesCommits(from)})
      or ${sql.join(
        items.map(({ isSeen }) => isSeen),
        sql` or `,
      )})`
}

/** Whether access to the project is enough to see a row of `todos`, or of its counts. */
const isOpenTo = (todos: string, viewer: number, from: SeenFrom): RawBuilder<boolean> => {
  const column = (name: string) => sql.ref(`${todos}.${name}`)
  const items = itemKinds().map(({ type, seesAll }) => sql`when ${sql.lit(type)} then ${seesAll(from)}`)
  return sql`exists (select 1 from projects p
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${viewer}
    where p.id = ${column('project_id')} and not p.deleting and ${isReadable(from)}
    and case ${column('type')} ${sql.join(items, sql` `)} else ${seesCommits(from)} end
    and (not ${column('reserved')} or ${isReporter}))`
}

export interface TodoFilter {
  readonly action?: TodoAction | null | undefined
  readonly author_id?: number | null | undefined
  readonly project_id?: number | null | undefined
  readonly group_id?: number | null | undefined
  readonly state?: 'pending' | 'done' | null | undefined
  readonly type?: string | null | undefined
}

/** The values of list conditions. An absent value is no condition. */
interface Filter {
  user: number
  state: 'pending' | 'done'
  action?: string
  author?: number
  project?: number
  group?: number
  type?: string
  /** Absent for administrators. */
  seen_by?: number
  internal_too?: true
}

const seenFrom = ({ given }: Pick<At<Filter>, 'given'>): SeenFrom => ({ internalToo: given('internal_too') })

/** The user's items in this state; an index covers them. */
const ofState = (w: Filter) =>
  sql`select todos.id from todos where todos.user_id = ${w.user} and todos.state = ${w.state}`

const todos = longList<Filter, 'todos', 'id'>({
  table: 'todos',
  facets: true,
  counted: [],
  followed: { scope: 'user' },
  always: (w, { column }) => [sql`${column('user_id')} = ${w.user}`, isThere],
  conditions: {
    project: {
      facet: true,
      test: (w, { hidden }) => sql`${hidden('project_id')} = ${w.project}`,
      set: (w) => sql`${ofState(w)} and todos.project_id = ${w.project}`,
    },
    author: {
      facet: true,
      test: (w, { hidden }) => sql`${hidden('author_id')} = ${w.author}`,
      set: (w) => sql`${ofState(w)} and todos.author_id = ${w.author}`,
    },
    group: {
      facet: true,
      test: (w, { hidden }) => sql`${hidden('project_id')} in (${projectsBelow(w)})`,
      set: (w) => sql`${ofState(w)} and todos.project_id in (${projectsBelow(w)})`,
    },
    state: { facet: true, test: (w, { column }) => sql`${column('state')} = ${w.state}` },
    action: { facet: true, test: (w) => sql`todos.action = ${w.action}` },
    type: { facet: true, test: (w) => sql`todos.type = ${w.type}` },
  },
  visible: {
    open: { needs: 'seen_by', test: (w, at) => isOpenTo('todos', w.seen_by!, seenFrom(at)) },
    own: {
      needs: 'seen_by',
      test: (w, at) => sql`exists (${seeing(w.seen_by!, seenFrom(at))})`,
      // Reserved items, and items of projects where the viewer sees only their own.
      set(w, at) {
        const isSeen = sql`exists (${seeing(w.seen_by!, seenFrom(at))})`
        return sql`${ofState(w)} and todos.reserved and ${isSeen}
          union all ${ofState(w)} and not todos.reserved and todos.project_id in (select f.project_id
            from todos_facets f where f.user_id = ${w.user} and f.state = ${w.state} and f.type <> 'Commit'
            and not ${isOpenTo('f', w.seen_by!, seenFrom(at))}) and ${isSeen}`
      },
      get counted() {
        return ['projects', 'project_authorizations', ...itemKinds().flatMap(({ people }) => Object.values(people))]
      },
    },
  },
  orders: { id: null },
  usual: () => ['id', 'desc'],
})

const projectsBelow = ({ group }: Filter) => sql`select p.id from projects p
  join namespace_ancestors a on a.namespace_id = p.namespace_id where a.ancestor_id = ${group}`

function valuesOf(viewer: User, { action, author_id, project_id, group_id, state, type }: TodoFilter): Filter {
  return {
    user: viewer.id,
    state: state ?? 'pending',
    ...(action && { action }),
    ...(author_id && { author: author_id }),
    ...(project_id && { project: project_id }),
    ...(group_id && { group: group_id }),
    ...(type && { type }),
    ...(!viewer.admin && { seen_by: viewer.id }),
    ...(openVisibilities(viewer).includes('internal') && { internal_too: true }),
  }
}

/** Newest first. */
export const listTodos = ({ db }: App, viewer: User, filter: TodoFilter, page: Cut): Promise<Page<Todo>> =>
  todos(db, valuesOf(viewer, filter), page)

export async function pendingIds({ db }: App, viewer: User, filter: TodoFilter): Promise<number[]> {
  const values = valuesOf(viewer, { ...filter, state: 'pending' })
  return (await todos.page(db, { ...values, limit: EVERY, offset: 0 })).map(({ id }) => id)
}

const EVERY = Number.MAX_SAFE_INTEGER

/** Counts the items that the user may see. */
export const countPendingTodos = async ({ db }: App, viewer: User): Promise<number> =>
  (await todos(db, valuesOf(viewer, {}), { limit: 0, offset: 0 })).total

/** `/todos/:id`: only the viewer's own. */
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

export const presentOneTodo = async (app: App, viewer: User, todo: Todo) =>
  (await presentTodos(app, viewer, [todo]))[0]!

/** The records of a page, in a fixed number of queries. */
export async function presentTodos(app: App, viewer: User, todos: readonly Todo[]) {
  if (todos.length === 0) return []
  const { db } = app
  const projectIds = [...new Set(todos.map(({ project_id }) => project_id))].map((id) => ({ id }))
  const noteIds = todos.flatMap(({ note_id }) => note_id ?? [])
  await assertSmallRows(db, 'notes', 'body', noteIds)
  const [around, people, projects, items, notes] = await Promise.all([
    surroundings(app),
    withUsers(db, todos, { author: 'author_id' }),
    loadProjects(db, viewer, projectIds),
    itemsOf(app, viewer, todos),
    db
      .selectFrom('notes')
      .select(['id', 'body'])
      .where(inIdList(db, 'id', idList(db, noteIds)))
      .execute(),
  ])
  const commits = await commitsOf(app, projects, todos)
  return people.flatMap((todo) => {
    const project = projects.find((one) => one.project.id === todo.project_id)
    const item = itemIn(todo)
    const target = item
      ? items.get(`${item.kind.key} ${item.id}`)
      : commits.get(`${todo.project_id} ${todo.commit_sha}`)
    if (!project || !target) return [] // deleted meanwhile
    const loaded = {
      ...todo,
      project: presentSimpleProject(project, addresses(app)),
      target,
      note: notes.find(({ id }) => id === todo.note_id) ?? null,
    }
    return [presentTodo(loaded, around)]
  })
}

/** Records of the target items, by kind and id. */
async function itemsOf(app: App, viewer: User, todos: readonly Todo[]) {
  const found = await Promise.all(
    itemKinds().map(async ({ key, column, presentTargets }) => {
      const ids = [...new Set(todos.flatMap((todo) => todo[column] ?? []))]
      const records = ids.length === 0 ? [] : await presentTargets(app, viewer, ids)
      return records.map((record) => [`${key} ${record.id}`, record] as const)
    }),
  )
  return new Map(found.flat())
}

/** Records of the target commits, read once per project. */
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
