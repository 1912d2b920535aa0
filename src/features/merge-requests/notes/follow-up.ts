/** Creates an issue from unresolved threads of a merge request. */
import { pageBelow } from '../../../lib/net/page-below.ts'
import { sql } from 'kysely'
import type { App, User } from '../../../context.ts'
import { withUsers } from '../../identity/users/queries.ts'
import { projectPaths } from '../../planning/items/load.ts'
import type { FollowUp } from '../../planning/items/registry.ts'
import { resolveNotes } from '../../planning/notes/resolving.ts'
import { addSystemNotes } from '../../planning/notes/system.ts'
import { noteablePolicy } from '../../planning/notes/noteable.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { mergeRequestPolicy, type MergeRequestSubject } from '../merge-requests/policy.ts'
import { findMergeRequest } from '../merge-requests/queries.ts'
import { noteableItemOf } from './noteable.ts'

/** Only the oldest threads; others stay as they are. */
const MOST_THREADS = 100
const LONGEST_QUOTE = 1000

/** Null if the merge request does not exist, no thread is unresolved, or the caller may not resolve threads. */
export const followUpThreads: FollowUp = async (app, actor, project, { iid, discussion }) => {
  const mergeRequest = await findMergeRequest(app, project.id, iid, actor.id)
  if (!mergeRequest) return null
  const subject = { ...(await loadRepositorySubject(app, project, actor)), mergeRequest }
  const topic = noteableItemOf(subject)
  if (!mergeRequestPolicy.readMergeRequest(subject) || !noteablePolicy.resolve({ ...subject, topic })) return null
  const threads = await unresolved(app, mergeRequest.id, discussion ?? null)
  if (threads.length === 0) return null
  return {
    description: await describe(app, subject, threads),
    async settle(app, issue) {
      for (const { discussion_id } of threads) {
        const body = `created #${issue.iid} to continue this discussion`
        const thread = { discussion_id, internal: false, type: 'DiscussionNote' as const }
        const about = { issue_id: issue.id }
        await addSystemNotes(app, actor, topic.noteable, [{ action: 'discussion', body, thread, about }])
        await resolveNotes(app, actor, topic, { discussion_id }, true)
      }
    },
  }
}

interface Thread {
  readonly id: number
  readonly discussion_id: string
  readonly author: User | null
  readonly body: string
}

/** The first note of each thread. Internal notes are not quoted, because the issue has other readers. */
async function unresolved({ db }: App, mergeRequest: number, discussion: string | null): Promise<Thread[]> {
  const firsts = await db
    .selectFrom('notes')
    .select([sql<number>`min(id)`.as('id')])
    .where('merge_request_id', '=', mergeRequest)
    .where('type', 'is not', null)
    .where('system', '=', false)
    .where('internal', '=', false)
    .$if(discussion !== null, (query) => query.where('discussion_id', '=', discussion!))
    .groupBy('discussion_id')
    .having(sql<boolean>`count(*) > count(resolved_at)`)
    .orderBy('id')
    .limit(MOST_THREADS)
    .execute()
  if (firsts.length === 0) return []
  const notes = await db
    .selectFrom('notes')
    .select(['id', 'discussion_id', 'author_id', 'body'])
    .where(
      'id',
      'in',
      firsts.map(({ id }) => id),
    )
    .orderBy('id')
    .execute()
  return withUsers(db, notes, { author: 'author_id' })
}

/** A task list, one item per thread with a quote of its first note. */
async function describe(app: App, { mergeRequest }: MergeRequestSubject, threads: readonly Thread[]): Promise<string> {
  const { project_id, iid } = mergeRequest
  const web = pageBelow(
    `${app.url}/${(await projectPaths(app.db, [project_id])).get(project_id)}`,
    `merge_requests/${iid}`,
  )
  const items = threads.map(({ id, author, body }) => {
    const quote = body.slice(0, LONGEST_QUOTE).replaceAll(/^/gm, '    > ')
    return `- [ ] ${author ? `@${author.username}` : 'Somebody'} started a [discussion](${web}#note_${id}):\n\n${quote}`
  })
  const what = threads.length === 1 ? 'discussion' : 'discussions'
  return `The following ${what} from !${iid} should be addressed:\n\n${items.join('\n\n')}`
}
