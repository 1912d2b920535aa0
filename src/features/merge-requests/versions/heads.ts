/** `refs/merge-requests/:iid/head` follows the row, even after a crash between both. */
import { on, type App } from '../../../context.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { dropRef, pointAt } from '../../../git/refs/pointing.ts'
import { headRef } from './refs.ts'
import { keepEnds } from './service.ts'

/** Reads the row again after moving the ref: of two concurrent pushes the later one wins. */
export async function pointHead({ db }: App, dir: string, { id, iid, head_sha }: MergeRequest): Promise<void> {
  for (let head = head_sha; head !== null;) {
    await pointAt(dir, headRef(iid), head)
    const [now] = await findMergeRequests(db, [id])
    if (!now) return dropRef(dir, headRef(iid))
    // A merge request with the same commits may have been deleted before this version existed to keep them.
    if (now.head_sha === head) return keepEnds(dir, head, now.start_sha)
    head = now.head_sha
  }
}

async function pointLater(app: App, { id }: { id: number }): Promise<void> {
  const [one] = await findMergeRequests(app.db, [id])
  const project = one && (await findProjectById(app.db, one.project_id))
  if (project) await pointHead(app, repositoryDir(app, project), one)
}

export const pointNew = on('merge_request.created', 'head ref', pointLater)
export const pointPushed = on('merge_request.pushed', 'head ref', pointLater)
export const pointReopened = on('merge_request.reopened', 'head ref', pointLater)
