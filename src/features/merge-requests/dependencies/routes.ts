import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { mergeRequest } from '../merge-requests/queries.ts'
import { BlockEntity } from './entity.ts'
import { presentBlocks } from './load.ts'
import { block, blocksOf } from './queries.ts'
import { addBlock, removeBlock } from './service.ts'

const ITEM = '/projects/:id/merge_requests/:merge_request_iid'

const listing = (name: string, column: 'blocked_id' | 'blocking_id', summary: string) =>
  endpoint({
    method: 'GET',
    path: `${ITEM}/${name}`,
    summary,
    on: mergeRequest,
    allow: 'readMergeRequest',
    output: pageOf(BlockEntity),
    async handle({ app, viewer, subject, page }) {
      const { items, total } = await pageOfQuery(blocksOf(app.db, column, subject.mergeRequest.id), page)
      return { total, items: await presentBlocks(app, viewer, items) }
    },
  })

export const list = listing('blocks', 'blocked_id', 'List what must be merged before a merge request')
export const listBlocked = listing('blockees', 'blocking_id', 'List what waits for a merge request')

export const get = endpoint({
  method: 'GET',
  path: `${ITEM}/blocks/:block_id`,
  summary: 'Get a dependency of a merge request',
  on: block,
  allow: 'readMergeRequest',
  output: BlockEntity,
  handle: async ({ app, viewer, subject }) => (await presentBlocks(app, viewer, [subject.block]))[0]!,
})

export const create = endpoint({
  method: 'POST',
  path: `${ITEM}/blocks`,
  summary: 'Create a dependency of a merge request',
  on: mergeRequest,
  allow: 'update',
  input: z.object({ blocking_merge_request_id: id }),
  output: BlockEntity,
  async handle({ app, viewer, subject, input }) {
    const added = await addBlock(app, viewer, subject.mergeRequest, input.blocking_merge_request_id)
    return (await presentBlocks(app, viewer, [added]))[0]!
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: `${ITEM}/blocks/:block_id`,
  summary: 'Delete a dependency of a merge request',
  on: block,
  allow: 'update',
  output: null,
  handle: ({ app, subject }) => removeBlock(app, subject.block),
})
