/** Loads the rows that decide who may see some events, with one query per kind of record. */
import type { App } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { rowsById } from '../../../store/rows.ts'
import { assigneesOf, findIssues } from '../../planning/issues/queries.ts'
import type { LoggedEvent } from './log.ts'

type IdColumn = 'issue_id' | 'merge_request_id' | 'snippet_id' | 'note_id'
export type Target = { readonly [column in IdColumn]?: number | null }

export interface Facts {
  readonly issues: ReadonlyMap<number, Row<'issues'>>
  readonly assignees: ReadonlyMap<number, readonly number[]>
  readonly mergeRequests: ReadonlyMap<number, Pick<Row<'merge_requests'>, 'id' | 'iid' | 'author_id'>>
  /** `<merge request> <user>` of assignees and reviewers. */
  readonly people: ReadonlySet<string>
  readonly snippets: ReadonlyMap<number, Row<'snippets'>>
  readonly notes: ReadonlyMap<number, Row<'notes'>>
  readonly awards: ReadonlyMap<number, Row<'award_emoji'>>
}

const byId = <R extends { readonly id: number }>(rows: readonly R[]) => new Map(rows.map((row) => [row.id, row]))

const idOf = ({ payload }: LoggedEvent): number | null => (JSON.parse(payload) as { id?: number }).id ?? null

export async function learnFacts({ db }: App, events: readonly LoggedEvent[]): Promise<Facts> {
  const idsOf = (subject: string) =>
    events.filter(({ name }) => name.startsWith(`${subject}.`)).flatMap((event) => idOf(event) ?? [])
  const awards = await rowsById(db, 'award_emoji', idsOf('award_emoji'))
  const gone = events
    .filter(({ name }) => name === 'award_emoji.deleted')
    .map(({ payload }) => JSON.parse(payload) as Target)
  const upon = (targets: readonly Target[], column: IdColumn) => targets.flatMap((target) => target[column] ?? [])
  const rated = [...awards.values(), ...gone]
  const notes = await rowsById(db, 'notes', [...idsOf('note'), ...upon(rated, 'note_id')])
  const targets = [...rated, ...notes.values()]
  const requestIds = [...new Set([...idsOf('merge_request'), ...upon(targets, 'merge_request_id')])]
  const issueIds = [...new Set([...idsOf('issue'), ...upon(targets, 'issue_id')])]
  const [issues, assignees, mergeRequests, people, snippets] = await Promise.all([
    findIssues(db, issueIds),
    issueIds.length > 0 ? assigneesOf(db, issueIds) : new Map<number, number[]>(),
    requestsOf(db, requestIds),
    peopleOf(db, requestIds),
    rowsById(db, 'snippets', [...idsOf('snippet'), ...upon(targets, 'snippet_id')]),
  ])
  return {
    issues: byId(issues),
    assignees,
    mergeRequests: byId(mergeRequests),
    people,
    snippets,
    notes,
    awards,
  }
}

async function requestsOf(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return db
    .selectFrom('merge_requests')
    .select(['id', 'iid', 'author_id'])
    .where(inIdList(db, 'id', idList(db, ids)))
    .execute()
}

async function peopleOf(db: Db, ids: readonly number[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const linked = (table: 'merge_request_assignees' | 'merge_request_reviewers') =>
    db
      .selectFrom(table)
      .select(['merge_request_id', 'user_id'])
      .where(inIdList(db, 'merge_request_id', idList(db, ids)))
  const rows = await linked('merge_request_assignees').unionAll(linked('merge_request_reviewers')).execute()
  return new Set(rows.map(({ merge_request_id, user_id }) => `${merge_request_id} ${user_id}`))
}
