/** Full-text search in the records the viewer may see, and search for members. */
import { sql, type RawBuilder } from 'kysely'
import { FeatureDisabled, FeatureEnabled, Guest, Reporter } from '../../../lib/levels.ts'
import type { App, User } from '../../../context.ts'
import type { Db, Row, Tables } from '../../../store/database.ts'
import { idList, inIdList, likePattern } from '../../../store/dialect.ts'
import { MOST_MATCHES, findByWords, type TextIndex, type TextQuery } from '../../../store/full-text.ts'
import { assertSmallRows, pageOfArray, pageOfQuery, type Cut, type Page } from '../../../store/pages.ts'
import { rowsById } from '../../../store/rows.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import { itemKinds, type RegisteredKind } from '../items/registry.ts'
import { projectsOf, seenBy } from '../items/conditions.ts'
import type { Milestone } from '../milestones/model.ts'
import type { Note } from '../notes/model.ts'
import { isReadable } from '../seeing.ts'
import { isThere, isVisible, seenBy as snippetsSeenBy } from '../snippets/lists.ts'
import type { Snippet } from '../snippets/model.ts'

const MILESTONES = {
  table: 'milestones',
  columns: ['title', 'description'],
  within: 'project_id',
} as const satisfies TextIndex
const NOTES = { table: 'notes', columns: ['body'], within: 'project_id' } as const satisfies TextIndex
const SNIPPETS = { table: 'snippets', columns: ['title', 'description'] } as const satisfies TextIndex

type Sort = 'asc' | 'desc' | null | undefined
type Test = RawBuilder<boolean>

const NOTHING = { items: [], total: 0 }

/** A search is narrowed to this number of projects. With more, it searches everything and tests each match. */
const MOST_PROJECTS = 100

async function fewOf(db: Db, projects: RawBuilder<unknown>): Promise<number[] | null> {
  const { rows } = await sql<{ id: number }>`select id from (${projects}) as projects
    limit ${sql.lit(MOST_PROJECTS + 1)}`.execute(db)
  return rows.length <= MOST_PROJECTS ? rows.map(({ id }) => id) : null
}

interface Reach {
  readonly group?: number | undefined
  readonly include_archived?: boolean | null | undefined
}

/** The projects the viewer may see, or those of a group: their ids where they are few, else a condition. */
async function searchedProjects(
  db: Db,
  table: RegisteredKind['table'] | 'milestones',
  viewer: User,
  { group, include_archived }: Reach,
): Promise<{ within?: number[]; tests: Test[] }> {
  if (group === undefined && viewer.admin) return { tests: [] }
  const projects = group === undefined ? projectsSeenBy(viewer, include_archived) : projectsOf({ group })
  const within = await fewOf(db, projects)
  if (within) return { within, tests: [] }
  return { tests: group === undefined ? [] : [sql`${sql.ref(`${table}.project_id`)} in (${projects})`] }
}

/** Archived projects are included only on request. */
const projectsSeenBy = (viewer: User, include_archived: Reach['include_archived']) => {
  const open = openVisibilities(viewer).map(
    (visibility) => sql`select id from projects
      where archived in (${sql.join(include_archived ? [false, true] : [false])}) and visibility = ${visibility} and not deleting`,
  )
  const theirs = sql`select project_id as id from project_authorizations where user_id = ${viewer.id}`
  return sql.join([...open, theirs], sql` union all `)
}

/** A page of matches. Above the limit of matches the total is unknown. */
async function pageByWords(db: Db, index: TextIndex, input: TextQuery, cut: Cut): Promise<Page<number>> {
  const most = Math.max(MOST_MATCHES, cut.offset + cut.limit) + 1
  const found = await findByWords(db, index, { ...input, most })
  return { ...pageOfArray(found, cut), more: found.length === most }
}

async function idsByWords(db: Db, index: TextIndex, input: TextQuery, cut: Cut): Promise<Page<{ id: number }>> {
  const { items, ...page } = await pageByWords(db, index, input, cut)
  return { ...page, items: items.map((id) => ({ id })) }
}

/** The rows of a page, in the order of the matches. */
async function rowsByWords<T extends 'milestones' | 'notes' | 'snippets'>(
  db: Db,
  index: TextIndex & { readonly table: T },
  input: TextQuery,
  cut: Cut,
): Promise<Page<Row<T>>> {
  const { items: ids, ...page } = await pageByWords(db, index, input, cut)
  if (index.table === 'notes') await assertSmallRows(db, 'notes', 'body', ids)
  const rows = await rowsById(db, index.table, ids)
  return { ...page, items: ids.flatMap((id) => rows.get(id) ?? []) }
}

const isInUse = ({ include_archived }: Reach) =>
  include_archived ? sql<boolean>`not p.deleting` : sql<boolean>`not p.deleting and not p.archived`

/** A condition: the row's project is active, and `also` holds for it. */
const isActive = (table: keyof Tables, reach: Reach, also = sql<boolean>`true`): Test =>
  sql`exists (select 1 from projects p
    where p.id = ${sql.ref(`${table}.project_id`)} and ${isInUse(reach)} and ${also})`

/** Of these projects, those that are active. */
async function activeOf(
  db: Db,
  projects: readonly number[],
  reach: Reach,
  also = sql<boolean>`true`,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select p.id from projects p
    where ${inIdList(db, 'p.id', idList(db, projects))} and ${isInUse(reach)} and ${also}`.execute(db)
  return rows.map(({ id }) => id)
}

const given = (values: object) => ({ given: (name: string) => name in values })

interface ItemSearch extends Reach {
  readonly words: string
  readonly state?: 'opened' | 'closed' | 'merged' | 'active' | 'all' | null | undefined
  readonly confidential?: boolean | null | undefined
  readonly sort?: Sort
}

/** In one project, archived or not; else in all projects the viewer may see, or in those of a group. */
export async function findItemsByWords(
  { db }: App,
  kind: RegisteredKind,
  viewer: User,
  project: ProjectSubject | undefined,
  { words, state, confidential, sort, ...reach }: ItemSearch,
  cut: Cut,
): Promise<Page<{ id: number }>> {
  const { table } = kind
  const index: TextIndex = { table, columns: ['title', 'description'], within: 'project_id' }
  const states = state && state !== 'all' ? kind.statesIn(state === 'active' ? 'opened' : state) : null
  if (states?.length === 0) return NOTHING
  const matching: Test[] = [
    ...(states ? [sql<boolean>`${sql.ref(`${table}.state`)} in (${sql.join(states.map((one) => sql.lit(one)))})`] : []),
    ...(typeof confidential === 'boolean' && kind.ruling?.includes('confidential')
      ? [sql<boolean>`${sql.ref(`${table}.confidential`)} = ${confidential}`]
      : []),
  ]
  if (project) {
    const tests = [...matching, ...(seesEvery(kind, project) ? [] : [isSeenBy(kind, viewer, `${table}.id`)])]
    return idsByWords(db, index, { words, sort, within: [project.project.id], tests }, cut)
  }
  const scope = await searchedProjects(db, table, viewer, reach)
  const seen = viewer.admin ? [] : [isSeenBy(kind, viewer, `${table}.id`)]
  const tests = [...matching, ...scope.tests, isActive(table, reach), ...seen]
  return idsByWords(db, index, { words, sort, ...scope, tests }, cut)
}

/** Whether the viewer sees every item of the project, confidential ones, too. */
const seesEvery = (kind: RegisteredKind, project: ProjectSubject) => project.level >= Reporter && kind.readsAll(project)

/** A condition: the viewer sees the item that the column names. */
function isSeenBy({ table, alias, sees }: RegisteredKind, viewer: User | null, column: string): Test {
  const from = { internalToo: openVisibilities(viewer).includes('internal') }
  const item = sql.ref(alias)
  return sql`exists (select 1 from ${sql.table(table)} ${item} join projects p on p.id = ${item}.project_id
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${viewer?.id ?? 0}
    where ${item}.id = ${sql.ref(column)} and ${isReadable(from)} and ${sees(viewer?.id ?? 0, from)})`
}

export interface MilestoneSearch {
  words: string
  state?: Milestone['state'] | undefined
  sort?: Sort
}

/** A project has milestones where issues or merge requests are enabled. */
const hasWork = (than: '=' | '>', level: number) =>
  sql.raw(`(p.issues_access_level ${than} ${level} or p.merge_requests_access_level ${than} ${level})`)

/** Whether the viewer may see the milestones of `p`. */
const seesMilestones = ({ seen_by, internal_too }: ReturnType<typeof seenBy>) => sql<boolean>`(
  (${hasWork('=', FeatureEnabled)}
    and p.visibility in (${sql.raw(internal_too ? `'public', 'internal'` : `'public'`)}))
  or (${hasWork('>', FeatureDisabled)} and exists (select 1 from project_authorizations t
    where t.project_id = p.id and t.user_id = ${seen_by} and t.access_level >= ${sql.lit(Guest)})))`

const isInState = (state: Milestone['state'] | undefined) => (state ? [sql<boolean>`milestones.state = ${state}`] : [])

/** In all projects the viewer may see, or in those of a group. */
export async function findMilestones(
  { db }: App,
  viewer: User,
  input: MilestoneSearch & Reach,
  cut: Cut,
): Promise<Page<Milestone>> {
  const seen = seenBy(viewer)
  const sees = seen.seen_by === undefined ? undefined : seesMilestones(seen)
  const { within, tests } = await searchedProjects(db, 'milestones', viewer, input)
  const state = isInState(input.state)
  // Test a few projects once, not with each of their milestones.
  const scope = within
    ? { within: await activeOf(db, within, input, sees), tests: state }
    : { tests: [...state, ...tests, isActive('milestones', input, sees)] }
  return rowsByWords(db, MILESTONES, { ...input, ...scope }, cut)
}

/** In one project the viewer may see, archived or not. */
export async function findMilestonesIn(
  { db }: App,
  subject: ProjectSubject,
  input: MilestoneSearch,
  cut: Cut,
): Promise<Page<Milestone>> {
  if (!hasFeature(subject, 'issues') && !hasFeature(subject, 'merge_requests')) return NOTHING
  const query = { ...input, within: [subject.project.id], tests: isInState(input.state) }
  return rowsByWords(db, MILESTONES, query, cut)
}

/** Notes of users in a project. */
export async function findNotes(
  { db }: App,
  subject: ProjectSubject,
  input: { words: string; sort?: Sort },
  cut: Cut,
): Promise<Page<Note>> {
  const { project, viewer, level } = subject
  const readsCode = hasFeature(subject, 'repository') && projectPolicy.readCode(subject)
  const tests: Test[] = [
    sql`not notes.system`,
    ...itemKinds().flatMap((kind) => (seesEvery(kind, subject) ? [] : [isOfSeenItem(kind, viewer)])),
    ...(readsCode ? [] : [sql<boolean>`notes.commit_sha is null`]),
    ...(hasFeature(subject, 'snippets') ? [] : [sql<boolean>`notes.snippet_id is null`]),
    ...(level >= Guest ? [] : [isOfOpenSnippet(viewer?.id ?? 0, subject)]),
    ...(level >= Reporter ? [] : [sql<boolean>`not notes.internal`]),
  ]
  return rowsByWords(db, NOTES, { ...input, within: [project.id], tests }, cut)
}

const isOfSeenItem = (kind: RegisteredKind, viewer: User | null): Test =>
  sql`(${sql.ref(`notes.${kind.column}`)} is null or ${isSeenBy(kind, viewer, `notes.${kind.column}`)})`

/** Members may see all snippets; others only their own and those visible to them. */
const isOfOpenSnippet = (viewer: number, { open }: ProjectSubject): Test => sql`(notes.snippet_id is null or exists (
  select 1 from snippets s where s.id = notes.snippet_id and (s.author_id = ${viewer}
    or s.visibility in (${sql.join(open.map((visibility) => sql.lit(visibility)))}))))`

/** Searches titles and descriptions. */
export async function findSnippets(
  { db }: App,
  viewer: User,
  input: { words: string; sort?: Sort },
  cut: Cut,
): Promise<Page<Snippet>> {
  const seen = snippetsSeenBy(viewer)
  const tests = [isThere, ...(seen.seen_by === undefined ? [] : [isVisible(seen, given(seen))])]
  return rowsByWords(db, SNIPPETS, { ...input, tests }, cut)
}

/**
 * Members of a project, or of a group and its ancestors, by a part of their names. Members of subgroups may be private.
 */
export function findMembers(
  db: Db,
  scope: { project: number } | { group: number },
  text: string,
  cut: Cut,
): Promise<Page<User>> {
  const like = likePattern(text)
  const people =
    'project' in scope
      ? sql`select user_id from project_authorizations
          where project_id = ${scope.project} and access_level >= ${sql.lit(Guest)}`
      : sql`select m.user_id from members m where m.group_id in (
          select ancestor_id from namespace_ancestors where namespace_id = ${scope.group})`
  const found = db
    .selectFrom('users')
    .selectAll()
    .where(sql<boolean>`id in (${people})`)
    .where('state', '=', 'active')
    .where(
      sql<boolean>`(lower(name) like lower(${like}) escape '\\' or lower(username) like lower(${like}) escape '\\'
        or email = ${text.toLowerCase()})`,
    )
    .orderBy('id', 'desc')
  return pageOfQuery(found, cut)
}
