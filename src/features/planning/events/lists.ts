/** Lists of what people did: in a project, by somebody, or in all projects one belongs to. */
import { sql, type RawBuilder } from 'kysely'
import type { App, User } from '../../../context.ts'
import { Guest, Reporter } from '../../../lib/levels.ts'
import { textsIn } from '../../../store/dialect.ts'
import { longList, type At, type Sort } from '../../../store/lists.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import { seenBy } from '../issues/lists.ts'
import { LEVEL, isOn, isOpen, isReadable } from '../seeing.ts'
import { ALL_KINDS, KINDS, type Activity, type Needs } from './model.ts'

interface Wanted {
  project?: number
  author?: number
  /** In whose projects. */
  member?: number
  /** JSON. */
  kinds?: string
  from?: string
  until?: string
  /** Absent for those who see everything; 0 for visitors. */
  seen_by?: number
  internal_too?: true
}

const kindsOf = (needs: Needs) =>
  sql.join(ALL_KINDS.filter((kind) => KINDS[kind].needs === needs).map((k) => sql.lit(k)))

/** Whether the viewer sees the project of a row, and what the row is about; `also` of what is reserved. */
function isSeen(w: Wanted, { given }: At<Wanted>, row: string, also = sql<boolean>`true`): RawBuilder<boolean> {
  const way = { internalToo: given('internal_too') }
  const kind = sql.ref(`${row}.kind`)
  return sql`exists (select 1 from projects p
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${w.seen_by}
    where p.id = ${sql.ref(`${row}.project_id`)} and ${isReadable(way)} and ${also}
    and case when ${kind} in (${kindsOf('code')})
        then ${isOn('repository')} and (${LEVEL} >= ${sql.lit(Reporter)} or ${isOpen(way)})
      when ${kind} in (${kindsOf('merge_requests')})
        then ${isOn('merge_requests')} and (${LEVEL} >= ${sql.lit(Reporter)} or ${isOpen(way)})
      when ${kind} in (${kindsOf('issues')}) then ${isOn('issues')}
      when ${kind} in (${kindsOf('snippets')}) then ${isOn('snippets')}
      when ${kind} in (${kindsOf('work')}) then (${isOn('issues')} or ${isOn('merge_requests')})
      else true end)`
}

/** Of a snippet that is not for everybody: they wrote it, or it is for whoever is signed in. */
const isOfOwnSnippet = (w: Wanted, at: At<Wanted>, row: string) => sql<boolean>`(${sql.ref(`${row}.reserved`)}
  and ${sql.ref(`${row}.note_id`)} in (select n.id from notes n join snippets s on s.id = n.snippet_id
    where s.author_id = ${w.seen_by} ${at.given('internal_too') ? sql`or s.visibility = 'internal'` : sql``})
  and ${isSeen(w, at, row)})`

const isOwn = (w: Wanted, at: At<Wanted>, row: string) =>
  sql<boolean>`(${isOfOwnIssue(w, at, row)} or ${isOfOwnSnippet(w, at, row)})`

/** Who sees what is reserved. */
const least = sql`case when activities.kind in (${kindsOf('snippets')}) then ${sql.lit(Guest)} else ${sql.lit(Reporter)} end`

/** Of a confidential issue that they wrote or that is theirs to do; internal notes are not for them. */
const isOfOwnIssue = (w: Wanted, at: At<Wanted>, row: string) => sql<boolean>`(${sql.ref(`${row}.reserved`)}
  and ${sql.ref(`${row}.issue_id`)} in (select i.id from issues i where i.author_id = ${w.seen_by} and i.confidential
    union all select a.issue_id from issue_assignees a where a.user_id = ${w.seen_by})
  and not exists (select 1 from notes n where n.id = ${sql.ref(`${row}.note_id`)} and n.internal)
  and ${isSeen(w, at, row)})`

const whose = (w: Wanted, { given }: At<Wanted>, column: (name: string) => RawBuilder<unknown>) => [
  ...(given('project') ? [sql<boolean>`${column('project_id')} = ${w.project}`] : []),
  ...(given('author') ? [sql<boolean>`${column('author_id')} = ${w.author}`] : []),
  ...(given('member')
    ? [
        sql<boolean>`${column('project_id')} in
          (select mine.project_id from project_authorizations mine where mine.user_id = ${w.member})`,
      ]
    : []),
]

const activities = longList<Wanted, 'activities', 'created_at'>({
  table: 'activities',
  facets: true,
  counted: ['activities', 'projects', 'project_authorizations'],
  always: (w, at) => [
    ...whose(w, at, at.column),
    sql`not exists (select 1 from projects p where p.id = activities.project_id and p.deleting)`,
  ],
  conditions: {
    kinds: {
      facet: true,
      test: (w, { db, hidden }) => sql`${hidden('kind')} in (${textsIn(db, w.kinds!)})`,
      set: (w, at) => {
        const tests = whose(w, at, (name) => sql.ref(`k.${name}`))
        return sql`select k.id from activities k where ${sql.join(tests, sql` and `)}
          and k.kind in (${textsIn(at.db, w.kinds!)})`
      },
    },
    from: { test: (w) => sql`activities.created_at >= ${w.from}` },
    until: { test: (w) => sql`activities.created_at < ${w.until}` },
  },
  visible: {
    open: {
      needs: 'seen_by',
      test: (w, at) => isSeen(w, at, 'activities', sql`(not activities.reserved or ${LEVEL} >= ${least})`),
    },
    own: {
      needs: 'seen_by',
      test: (w, at) => isOwn(w, at, 'activities'),
      set: (w, at) => sql`select o.id from activities o where ${isOfOwnIssue(w, at, 'o')}
        union select o.id from activities o where ${isOfOwnSnippet(w, at, 'o')}`,
      counted: ['issues', 'issue_assignees', 'snippets'],
    },
  },
  orders: { created_at: () => sql.ref('activities.created_at') },
  usual: () => ['created_at', 'desc'],
})

export interface ActivityFilter {
  readonly action?: string | null | undefined
  readonly target_type?: string | null | undefined
  /** Days that are left out themselves. */
  readonly before?: string | null | undefined
  readonly after?: string | null | undefined
  readonly sort?: Sort | null | undefined
}

const midnight = (day: string, days = 0) => new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString()

export async function listActivities(
  { db }: App,
  viewer: User | null,
  place: Pick<Wanted, 'project' | 'author' | 'member'>,
  { action, target_type, before, after, sort }: ActivityFilter,
  cut: Cut,
): Promise<Page<Activity>> {
  const kinds = ALL_KINDS.filter(
    (kind) => (!action || KINDS[kind].action === action) && (!target_type || KINDS[kind].target === target_type),
  )
  if (kinds.length === 0) return { items: [], total: 0 }
  const wanted: Wanted = {
    ...place,
    ...(kinds.length < ALL_KINDS.length && { kinds: JSON.stringify(kinds) }),
    ...(after && { from: midnight(after, 1) }),
    ...(before && { until: midnight(before) }),
    ...seenBy(viewer),
  }
  return activities(db, wanted, cut, { sort })
}
