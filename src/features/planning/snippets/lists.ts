/** Lists of snippets: newest first. */
import { sql, type RawBuilder } from 'kysely'
import type { App, User } from '../../../context.ts'
import { FeatureDisabled, FeatureEnabled, Guest } from '../../../lib/levels.ts'
import { longList, type At } from '../../../store/lists.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import type { Snippet } from './model.ts'

/** An absent value is no condition. */
interface Filter {
  project?: number
  author?: number
  public?: true
  created_after?: string
  created_before?: string
  /** Absent for administrators; 0 for anonymous viewers. */
  seen_by?: number
  internal_too?: true
}

const isOpen = ({ given }: Pick<At<Filter>, 'given'>, column: string) =>
  sql<boolean>`${sql.ref(column)} in (${sql.raw(given('internal_too') ? `'public', 'internal'` : `'public'`)})`

/** Snippets of a project that are visible to non-members. */
const openProject = (at: Pick<At<Filter>, 'given'>) => sql<boolean>`p.snippets_access_level = ${sql.lit(FeatureEnabled)}
  and ${isOpen(at, 'p.visibility')}`

const memberships = (w: Filter) => sql`select t.project_id from project_authorizations t
  join projects q on q.id = t.project_id
  where t.user_id = ${w.seen_by} and t.access_level >= ${sql.lit(Guest)}
  and q.snippets_access_level > ${sql.lit(FeatureDisabled)}`

export const isVisible = (
  w: Filter,
  at: Pick<At<Filter>, 'given'>,
) => sql<boolean>`case when snippets.project_id is null
  then ${isOpen(at, 'snippets.visibility')} or snippets.author_id = ${w.seen_by}
  else snippets.project_id in (${memberships(w)}) or exists (select 1 from projects p
    where p.id = snippets.project_id and ${openProject(at)}
    and (${isOpen(at, 'snippets.visibility')} or snippets.author_id = ${w.seen_by})) end`

const visibleIds = (w: Filter, at: At<Filter>): RawBuilder<number> => sql`
  select s.id from snippets s where s.project_id is null and ${isOpen(at, 's.visibility')}
  union select s.id from snippets s where s.author_id = ${w.seen_by} and s.project_id is null
  union select s.id from snippets s where s.project_id in (${memberships(w)})
  union select s.id from snippets s join projects p on p.id = s.project_id
    where ${openProject(at)} and (${isOpen(at, 's.visibility')} or s.author_id = ${w.seen_by})`

/** Not `exists`: PostgreSQL would read all projects that are being deleted, once per page. */
export const isThere = sql<boolean>`coalesce((select not p.deleting from projects p
  where p.id = snippets.project_id), true)`

const list = longList<Filter, 'snippets', 'id'>({
  table: 'snippets',
  counted: ['projects', 'project_snippets'],
  followed: {},
  always: () => [isThere],
  conditions: {
    project: {
      leads: ['id'],
      test: (w, { column }) => sql`${column('project_id')} = ${w.project}`,
      set: (w) => sql`select id from snippets where project_id = ${w.project}`,
    },
    author: {
      leads: ['id'],
      test: (w, { column }) => sql`${column('author_id')} = ${w.author}`,
      set: (w) => sql`select id from snippets where author_id = ${w.author}`,
    },
    public: {
      leads: ['id'],
      test: (_, { column }) => sql`${column('visibility')} = 'public'`,
      set: () => sql`select id from snippets where visibility = 'public'`,
    },
    created_after: { test: (w) => sql`snippets.created_at >= ${w.created_after}` },
    created_before: { test: (w) => sql`snippets.created_at <= ${w.created_before}` },
  },
  visible: {
    own: { needs: 'seen_by', test: isVisible, set: visibleIds, counted: ['project_authorizations'] },
  },
  orders: { id: null },
  usual: () => ['id', 'desc'],
})

export interface SnippetFilter {
  project?: number
  author?: number
  public?: true
  created_after?: string | null | undefined
  created_before?: string | null | undefined
}

/** The snippets that the viewer may see. */
export async function listSnippets(
  { db }: App,
  viewer: User | null,
  { created_after, created_before, ...filter }: SnippetFilter,
  cut: Cut,
): Promise<Page<Snippet>> {
  const times = { ...(created_after && { created_after }), ...(created_before && { created_before }) }
  return list(db, { ...filter, ...times, ...seenBy(viewer) }, cut)
}

export function seenBy(viewer: User | null): Pick<Filter, 'seen_by' | 'internal_too'> {
  const active = viewer?.state === 'active'
  if (active && viewer.admin) return {}
  const internal = openVisibilities(viewer).includes('internal')
  return { seen_by: active ? viewer.id : 0, ...(internal && { internal_too: true }) }
}
