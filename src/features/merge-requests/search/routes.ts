import { byWords } from '../../planning/search/scopes.ts'
import { searchEndpoints } from '../../planning/search/endpoints.ts'
import { MergeRequestEntity } from '../merge-requests/entity.ts'
import { presentMergeRequestsById } from '../merge-requests/load.ts'
import { findMergeRequestsByWords } from './lists.ts'

const mergeRequests = byWords(async ({ app, viewer, group, project, wish: input, page }, words) => {
  const { state, sort, include_archived } = input
  const wanted = { words, state, sort, include_archived, group: group?.id }
  const { items, ...found } = await findMergeRequestsByWords(app, viewer, project, wanted, page)
  return { ...found, items: await presentMergeRequestsById(app, items, { isMixed: !project }) }
})

export const { everywhere, ofGroup, ofGroupDashed, ofProject, ofProjectDashed } = searchEndpoints(
  MergeRequestEntity,
  mergeRequests,
)
