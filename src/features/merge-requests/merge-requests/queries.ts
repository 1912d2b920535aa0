import { z } from 'zod'
import { child, resource } from '../../../api/endpoint.ts'
import { id, text } from '../../../api/wire.ts'
import { forbidden } from '../../../errors.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { lookup, nothing, type Lookup } from '../../../store/lookups.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import { findDeletedByIid } from '../../planning/bin/queries.ts'
import { rowFinder } from '../../planning/items/rows.ts'
import { viewedFinder } from '../../planning/items/viewed.ts'
import { mergeRequestKind } from './kind.ts'
import type { MergeRequest } from './model.ts'
import { mergeRequestPolicy, mergeRequestsPolicy } from './policy.ts'

/** `/projects/:id/merge_requests`: the project. */
export const mergeRequests = resource({
  name: 'Project',
  params: z.object({ id: text }),
  policy: mergeRequestsPolicy,
  find: (app, { id }, viewer) => findRepositorySubject(app, id, viewer),
})

export const findMergeRequest = viewedFinder(mergeRequestKind)

export const mergeRequest = child(mergeRequests, {
  key: 'mergeRequest',
  params: { merge_request_iid: id },
  policy: mergeRequestPolicy,
  async find(app, parent, { merge_request_iid }) {
    const found = await findMergeRequest(app, parent.project.id, merge_request_iid, parent.viewer?.id ?? 0)
    // A viewer who may see no merge requests gets the same answer for a missing one.
    if (!found && !mergeRequestsPolicy.readMergeRequests(parent)) throw forbidden()
    return found
  },
})

/** A merge request in the bin. */
export const deletedMergeRequest = child(mergeRequests, {
  key: 'deleted',
  params: { merge_request_iid: id },
  find: ({ db }, { project }, { merge_request_iid }) =>
    findDeletedByIid(db, mergeRequestKind.key, project.id, merge_request_iid),
})

/** In the order of `ids`. */
export const findMergeRequests = rowFinder(mergeRequestKind)

const targets = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('merge_requests as m')
    .innerJoin('merge_targets as t', (join) =>
      join.onRef('t.project_id', '=', 'm.project_id').onRef('t.branch', '=', 'm.target_branch'),
    )
    .select(['m.id', 't.sha'])
    .where(inIdList(db, 'm.id', p.ids)),
)

/** The tips of the target branches, by merge request id. */
export const targetLookup = (db: Db, ids: readonly number[]): Lookup<ReadonlyMap<number, string | null>> =>
  lookup(targets, { ids: idList(db, ids) }, (rows) => new Map(rows.map(({ id, sha }) => [id, sha])))

const earlier = hotQuery((db, p: { project: number; author: number; id: number }) =>
  db
    .selectFrom('merge_requests')
    .select('id')
    .where('author_id', '=', p.author)
    .where('project_id', '=', p.project)
    .where('state', '=', 'merged')
    .where('id', '!=', p.id)
    .limit(1),
)

/** Whether no merge request of the author was merged here before. */
export const firstContributionLookup = ({
  id,
  project_id,
  author_id,
}: Pick<MergeRequest, 'id' | 'project_id' | 'author_id'>): Lookup<boolean> =>
  author_id === null
    ? nothing(false)
    : lookup(earlier, { project: project_id, author: author_id, id }, (rows) => rows.length === 0)
