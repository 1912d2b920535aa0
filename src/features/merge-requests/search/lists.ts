import { sql, type RawBuilder } from 'kysely'
import type { App, User } from '../../../context.ts'
import type { TextIndex } from '../../../store/full-text.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { idsByWords, isActive, searchedProjects, type Reach } from '../../planning/search/lists.ts'
import type { SearchOptions } from '../../planning/search/scopes.ts'
import {
  hasMergeRequests,
  isOfMergeRequest,
  isReadable,
  readsMergeRequests,
  seesMergeRequest,
} from '../../planning/seeing.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'

const INDEX: TextIndex = { table: 'merge_requests', columns: ['title', 'description'], within: 'project_id' }

type Test = RawBuilder<boolean>

interface Options extends Pick<SearchOptions, 'state' | 'sort'>, Reach {
  readonly words: string
}

/** In one project, archived or not; else in all projects the viewer may see, or in a group. */
export async function findMergeRequestsByWords(
  { db }: App,
  viewer: User,
  project: ProjectSubject | undefined,
  { words, state, sort, ...reach }: Options,
  cut: Cut,
): Promise<Page<{ id: number }>> {
  const tests = isInState(state)
  if (project) {
    if (!hasMergeRequests(project)) return { items: [], total: 0 }
    const mine = readsMergeRequests(project) ? [] : [ofThem(isOfMergeRequest(viewer.id))]
    const within = [project.project.id]
    return idsByWords(db, INDEX, { words, sort, within, tests: [...tests, ...mine] }, cut)
  }
  const place = await searchedProjects(db, 'merge_requests', viewer, reach)
  const all = [...tests, ...place.tests, isActive('merge_requests', reach), ...(viewer.admin ? [] : [isSeenBy(viewer)])]
  return idsByWords(db, INDEX, { words, sort, ...place, tests: all }, cut)
}

/** Viewers see a merge request that is being merged as open. */
function isInState(state: Options['state']): Test[] {
  if (!state || state === 'all') return []
  if (state === 'opened' || state === 'active') return [sql`merge_requests.state in ('opened', 'locked')`]
  return [sql`merge_requests.state = ${state}`]
}

const ofThem = (test: Test): Test =>
  sql`exists (select 1 from merge_requests m where m.id = merge_requests.id and ${test})`

function isSeenBy(viewer: User): Test {
  const way = { internalToo: openVisibilities(viewer).includes('internal') }
  return sql`exists (select 1 from merge_requests m join projects p on p.id = m.project_id
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${viewer.id}
    where m.id = merge_requests.id and ${isReadable(way)} and ${seesMergeRequest(viewer.id, way)})`
}
