import { on } from '../../../context.ts'
import { keepClosing } from './service.ts'

const TEXTS = ['title', 'description', 'target_branch']

export const readNew = on('merge_request.created', 'closing', (app, { id }) => keepClosing(app, id))
export const readChanged = on('merge_request.updated', 'closing', (app, { id }) => keepClosing(app, id), {
  when: ({ changes }) => TEXTS.some((field) => field in changes),
})
export const readPushed = on('merge_request.pushed', 'closing', (app, { id }) => keepClosing(app, id))
