import { on, type App } from '../../../context.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { findUser } from '../../identity/users/queries.ts'
import { NO_SOURCE } from '../../planning/references/model.ts'
import { mergeRequestName, trackText } from '../../planning/references/service.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { touchMergeRequest } from '../merge-requests/service.ts'

/** The maximum number of its own commits that are compared with the commits it mentions. */
const MOST_COMMITS = 1000

async function track(app: App, { id, by }: { id: number; by: number }): Promise<void> {
  const [[one], actor] = await Promise.all([findMergeRequests(app.db, [id]), findUser(app.db, by)])
  const subject = one && actor && (await findRepositorySubject(app, String(one.project_id), actor))
  if (!subject) return // deleted meanwhile
  await trackText(app, actor, subject, {
    source: { ...NO_SOURCE, source_merge_request_id: id, source_project_id: one.project_id },
    text: `${one.title}\n\n${one.description ?? ''}`,
    name: mergeRequestName(subject, one.iid),
    isReported: true,
    except: new Set(await ownCommits(subject.dir, one)),
  })
}

const ownCommits = async (dir: string, { head_sha: from, base_sha: base }: MergeRequest): Promise<string[]> =>
  from === null || from === base
    ? []
    : listCommitIds(dir, { from, not: base === null ? [] : [base], limit: MOST_COMMITS })

const TEXTS = ['title', 'description']

export const trackNew = on('merge_request.created', 'references', track)
export const trackChanged = on('merge_request.updated', 'references', track, {
  when: ({ changes }) => TEXTS.some((field) => field in changes),
})

export const touchReferenced = on('merge_request.named', 'merge requests', (app, { id }) => touchMergeRequest(app, id))
