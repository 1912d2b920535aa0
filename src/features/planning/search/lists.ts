/** What searches find that has no list of its own by words: milestones, notes, people of a place. */
import { sql } from 'kysely'
import { FeatureDisabled, FeatureEnabled, Guest, Reporter } from '../../../lib/levels.ts'
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { likePattern } from '../../../store/dialect.ts'
import { hasWords } from '../../../store/full-text.ts'
import { longList, type At } from '../../../store/lists.ts'
import { pageOfQuery, type Cut, type Page } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import { issuesPolicy } from '../issues/policy.ts'
import { projectsOf } from '../issues/lists.ts'
import type { Milestone } from '../milestones/model.ts'
import type { Note } from '../notes/model.ts'

type Sort = 'asc' | 'desc' | null | undefined

interface WantedMilestones {
  words?: string
  project?: number
  group?: number
  state?: Milestone['state']
  /** Absent for those who see everything. */
  seen_by?: number
  internal_too?: true
}

/** Milestones are there where issues or merge requests are. */
const hasWork = (than: '=' | '>', level: number) =>
  sql.raw(`(p.issues_access_level ${than} ${level} or p.merge_requests_access_level ${than} ${level})`)

const seesMilestone = (w: WantedMilestones, { given }: At<WantedMilestones>) => sql<boolean>`exists (
  select 1 from projects p where p.id = milestones.project_id and (
    (${hasWork('=', FeatureEnabled)}
      and p.visibility in (${sql.raw(given('internal_too') ? `'public', 'internal'` : `'public'`)}))
    or (${hasWork('>', FeatureDisabled)} and exists (select 1 from project_authorizations t
      where t.project_id = p.id and t.user_id = ${w.seen_by} and t.access_level >= ${sql.lit(Guest)}))))`

const milestones = longList<WantedMilestones, 'milestones', 'id'>({
  table: 'milestones',
  counted: ['milestones', 'milestone_texts', 'projects'],
  always: () => [
    sql`exists (select 1 from projects p where p.id = milestones.project_id and not p.deleting and not p.archived)`,
  ],
  conditions: {
    words: hasWords('milestones', ['title', 'description']),
    project: { test: (w, { hidden }) => sql`${hidden('project_id')} = ${w.project}` },
    group: {
      test: (w, { hidden }) => sql`${hidden('project_id')} in (${projectsOf(w)})`,
      counted: ['namespaces', 'project_shares'],
    },
    state: { test: (w) => sql`milestones.state = ${w.state}` },
  },
  visible: { own: { needs: 'seen_by', test: seesMilestone, counted: ['project_authorizations'] } },
  orders: { id: null },
  usual: () => ['id', 'desc'],
})

export interface MilestoneSearch {
  words: string
  group?: number
  state?: Milestone['state']
  sort?: Sort
}

/** Of the projects that the viewer sees. */
export function findMilestones(
  { db }: App,
  viewer: User,
  { sort, ...wanted }: MilestoneSearch,
  cut: Cut,
): Promise<Page<Milestone>> {
  const internal = openVisibilities(viewer).includes('internal')
  const seen = viewer.admin ? {} : { seen_by: viewer.id, ...(internal && { internal_too: true as const }) }
  return milestones(db, { ...wanted, ...seen }, cut, { sort })
}

/** Of a project the viewer sees, whether it is archived or not. */
export async function findMilestonesIn(
  { db }: App,
  subject: ProjectSubject,
  { words, state, sort }: MilestoneSearch,
  cut: Cut,
): Promise<Page<Milestone>> {
  if (!hasFeature(subject, 'issues') && !hasFeature(subject, 'merge_requests')) return { items: [], total: 0 }
  return ownMilestones(db, { words, project: subject.project.id, ...(state && { state }) }, cut, { sort })
}

const ownMilestones = longList<WantedMilestones, 'milestones', 'id'>({
  table: 'milestones',
  counted: ['milestones', 'milestone_texts'],
  conditions: {
    words: hasWords('milestones', ['title', 'description']),
    project: { test: (w, { hidden }) => sql`${hidden('project_id')} = ${w.project}` },
    state: { test: (w) => sql`milestones.state = ${w.state}` },
  },
  orders: { id: null },
  usual: () => ['id', 'desc'],
})

interface WantedNotes {
  words?: string
  project: number
  /** Of issues, of commits, of snippets: where the viewer sees them. */
  issues?: true
  commits?: true
  snippets?: true
  /** Who sees all snippets. */
  member?: true
  internal_too?: true
  /** Absent for those who see what is internal and confidential. */
  seen_by?: number
}

const seesSnippet = (w: WantedNotes, { given }: At<WantedNotes>) =>
  given('member')
    ? sql<boolean>`true`
    : sql<boolean>`(notes.snippet_id is null or exists (select 1 from snippets s where s.id = notes.snippet_id
        and (s.author_id = ${w.seen_by}
          or s.visibility in (${sql.raw(given('internal_too') ? `'public', 'internal'` : `'public'`)}))))`

const notes = longList<WantedNotes, 'notes', 'id'>({
  table: 'notes',
  counted: ['note_texts', 'issues', 'issue_assignees'],
  always: (w, { given, hidden }) => [
    sql`${hidden('project_id')} = ${w.project}`,
    sql`not notes.system`,
    ...(given('issues') ? [] : [sql<boolean>`notes.issue_id is null`]),
    ...(given('commits') ? [] : [sql<boolean>`notes.commit_sha is null`]),
    ...(given('snippets') ? [] : [sql<boolean>`notes.snippet_id is null`]),
  ],
  conditions: { words: hasWords('notes', ['body']) },
  visible: {
    own: {
      needs: 'seen_by',
      test: (w, at) => sql`not notes.internal and (notes.issue_id is null or exists (
        select 1 from issues i where i.id = notes.issue_id and (not i.confidential or i.author_id = ${w.seen_by}
          or exists (select 1 from issue_assignees a where a.issue_id = i.id and a.user_id = ${w.seen_by}))))
        and ${seesSnippet(w, at)}`,
      counted: ['snippets'],
    },
  },
  orders: { id: null },
  usual: () => ['id', 'desc'],
})

/** What people said in a project. */
export async function findNotes(
  { db }: App,
  subject: ProjectSubject,
  { words, sort }: { words: string; sort?: Sort },
  cut: Cut,
): Promise<Page<Note>> {
  const { project, viewer, level } = subject
  const readsCode = hasFeature(subject, 'repository') && projectPolicy.readCode(subject)
  const wanted = {
    words,
    project: project.id,
    ...(issuesPolicy.readIssues(subject) && { issues: true as const }),
    ...(readsCode && { commits: true as const }),
    ...(hasFeature(subject, 'snippets') && { snippets: true as const }),
    ...(level >= Guest && { member: true as const }),
    ...(subject.open.includes('internal') && { internal_too: true as const }),
    ...(level < Reporter && { seen_by: viewer?.id ?? 0 }),
  }
  return notes(db, wanted, cut, { sort })
}

/** Members of a project, or of a group and those above it, by a part of their names. Who is below may be a secret. */
export function findMembers(
  db: Db,
  place: { project: number } | { group: number },
  text: string,
  cut: Cut,
): Promise<Page<User>> {
  const like = likePattern(text)
  const people =
    'project' in place
      ? sql`select user_id from project_authorizations
          where project_id = ${place.project} and access_level >= ${sql.lit(Guest)}`
      : sql`select m.user_id from members m where m.group_id in (
          select ancestor_id from namespace_ancestors where namespace_id = ${place.group})`
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
