/**
 * Merge requests as planning uses them: for references, to-do items and activities. They belong to a context above, so
 * this file only reads rows.
 */
import type { App, User } from '../../context.ts'
import { Reporter } from '../../lib/levels.ts'
import type { Db, Row } from '../../store/database.ts'
import { idList, inIdList } from '../../store/dialect.ts'
import { projectPolicy, type ProjectSubject } from '../projects/projects/policy.ts'
import { findProjectSubject } from '../projects/projects/queries.ts'
import { hasMergeRequests, readsMergeRequests } from './seeing.ts'
import { projectSubjects, subjectsOfUsers } from './subjects.ts'

export type MergeRequestRow = Pick<Row<'merge_requests'>, 'id' | 'iid' | 'project_id' | 'author_id' | 'title'>

const COLUMNS = ['id', 'iid', 'project_id', 'author_id', 'title'] as const

export async function findMergeRequestRows(db: Db, ids: readonly number[]): Promise<MergeRequestRow[]> {
  if (ids.length === 0) return []
  return db
    .selectFrom('merge_requests')
    .select(COLUMNS)
    .where(inIdList(db, 'id', idList(db, [...new Set(ids)])))
    .execute()
}

/** `<merge request> <user>` of assignees and reviewers. */
async function peopleOf(db: Db, ids: readonly number[]): Promise<Set<string>> {
  const some = idList(db, ids)
  const [assignees, reviewers] = await Promise.all([
    db
      .selectFrom('merge_request_assignees')
      .selectAll()
      .where(inIdList(db, 'merge_request_id', some))
      .execute(),
    db
      .selectFrom('merge_request_reviewers')
      .select(['merge_request_id', 'user_id'])
      .where(inIdList(db, 'merge_request_id', some))
      .execute(),
  ])
  return new Set([...assignees, ...reviewers].map(({ merge_request_id, user_id }) => `${merge_request_id} ${user_id}`))
}

const isReader = (subject: ProjectSubject, { id, author_id }: MergeRequestRow, people: ReadonlySet<string>): boolean =>
  projectPolicy.read(subject) &&
  (readsMergeRequests(subject) ||
    (subject.viewer !== null &&
      hasMergeRequests(subject) &&
      (author_id === subject.viewer.id || people.has(`${id} ${subject.viewer.id}`))))

/** Of these merge requests of any projects, those the viewer may see. A fixed number of queries. */
export async function readableMergeRequests<R extends MergeRequestRow>(
  app: App,
  viewer: User | null,
  some: readonly R[],
): Promise<R[]> {
  if (some.length === 0) return []
  const [subjects, people] = await Promise.all([
    projectSubjects(
      app,
      viewer,
      some.map(({ project_id }) => project_id),
    ),
    peopleOf(
      app.db,
      some.map(({ id }) => id),
    ),
  ])
  return some.filter((one) => {
    const subject = subjects.get(one.project_id)
    return subject && isReader(subject, one, people)
  })
}

/** Of these users, those who may see the merge request or, with `internal`, its internal notes. */
export async function mergeRequestReaders(
  app: App,
  place: Pick<ProjectSubject, 'project' | 'namespace'>,
  ids: readonly number[],
  one: MergeRequestRow,
  { internal }: { readonly internal: boolean } = { internal: false },
): Promise<User[]> {
  const [subjects, people] = await Promise.all([subjectsOfUsers(app, place, ids), peopleOf(app.db, [one.id])])
  const seeing = subjects.filter((subject) => isReader(subject, one, people))
  return seeing.filter(({ level }) => !internal || level >= Reporter).map(({ viewer }) => viewer)
}

/**
 * `!4`, `project!4`, `group/project!4`, if the viewer may see it. A single name means a project in the same namespace.
 */
export async function findNamedMergeRequest(
  app: App,
  viewer: User,
  home: ProjectSubject,
  { project: path, id: iid }: { readonly project: string | null; readonly id: number },
): Promise<{ project: ProjectSubject['project']; mergeRequest: MergeRequestRow } | null> {
  const own = path === null || path.includes('/') ? path : `${home.namespace.full_path}/${path}`
  const project = own === null ? home.project : (await findProjectSubject(app, own, viewer))?.project
  if (!project) return null
  const rows = await app.db
    .selectFrom('merge_requests')
    .select(COLUMNS)
    .where('project_id', '=', project.id)
    .where('iid', '=', iid)
    .execute()
  const [mergeRequest] = await readableMergeRequests(app, viewer, rows)
  return mergeRequest ? { project, mergeRequest } : null
}
