import { z } from 'zod'
import { bool, oneOf } from '../../../api/wire.ts'
import { listsOn } from '../../planning/items/list-endpoints.ts'
import { MergeRequestEntity, SimpleMergeRequestEntity } from './entity.ts'
import { filterFrom, filterInput } from './filter.ts'
import { mergeRequestKind } from './kind.ts'
import { MERGE_REQUEST_ORDERS, mergeRequestLists } from './lists.ts'
import { presentListed } from './load.ts'
import { mergeRequests } from './queries.ts'

export const { listAll, listOfGroup, list, ofMilestone, ofGroupMilestone } = listsOn({
  kind: mergeRequestKind,
  by: 'user',
  on: mergeRequests,
  allow: 'readMergeRequests',
  input: z.object({
    ...filterInput,
    order_by: oneOf(...MERGE_REQUEST_ORDERS).nullish(),
    sort: oneOf('asc', 'desc').nullish(),
    view: oneOf('simple').nullish(),
    with_labels_details: bool.nullish(),
    /** Accepted without effect: the merge status is always current. */
    with_merge_status_recheck: bool.nullish(),
  }),
  filterFrom,
  lists: mergeRequestLists,
  entity: MergeRequestEntity,
  output: z.union([MergeRequestEntity, SimpleMergeRequestEntity]),
  present: (app, _viewer, page, options) => presentListed(app, page, options),
})
