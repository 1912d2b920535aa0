import { on } from '../../../context.ts'
import { followMergeRequest } from './service.ts'

export const runCreated = on('merge_request.created', 'pipelines', async (app, { id, by }, { at }) => {
  await followMergeRequest(app, id, by, at)
})

export const runPushedTo = on(
  'merge_request.pushed',
  'pipelines',
  async (app, { id, by }, { at }) => {
    await followMergeRequest(app, id, by, at)
  },
  { when: ({ by, after }) => by !== null && after !== null },
)
