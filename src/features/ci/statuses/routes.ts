import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, id, longText, oneOf, text } from '../../../api/wire.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { commit } from '../../repository/commits/queries.ts'
import { CommitStatusEntity, presentStatus } from './entity.ts'
import { listStatuses } from './queries.ts'
import { reportStatus } from './service.ts'

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/statuses',
  summary: 'List what tools reported of a commit',
  on: commit,
  allow: 'download',
  input: z.object({
    sha: text, // must be a SHA: the name of a branch finds nothing here
    ref: text.nullish(),
    stage: text.nullish(),
    name: text.nullish(),
    all: bool.nullish(),
    pipeline_id: blankable(id),
    order_by: oneOf('id').nullish(),
    sort: oneOf('asc', 'desc').nullish(),
  }),
  output: pageOf(CommitStatusEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listStatuses(app.db, subject.project.id, input.sha, input, page)
    const around = await surroundings(app)
    const statuses = await withUsers(app.db, items, { author: 'user_id' })
    return { total, items: statuses.map((status) => presentStatus(status, around, webUrlOf(app, subject))) }
  },
})

const decimal = z.preprocess(
  (value) => (typeof value === 'string' && /^[+-]?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : value),
  z.number(),
)

export const report = endpoint({
  method: 'POST',
  path: '/projects/:id/statuses/:sha',
  summary: 'Set the status of a commit',
  on: commit,
  allow: 'report',
  input: z.object({
    state: oneOf('pending', 'running', 'success', 'failed', 'canceled', 'skipped'),
    ref: text.nullish(),
    name: text.nullish(),
    context: text.nullish(),
    target_url: text.nullish(),
    description: longText.nullish(),
    coverage: decimal.nullish(),
    pipeline_id: id.nullish(),
  }),
  output: CommitStatusEntity,
  async handle({ app, viewer, subject, input }) {
    const status = await reportStatus(app, viewer, subject, subject.commit, input)
    return presentStatus({ ...status, author: viewer }, await surroundings(app), webUrlOf(app, subject))
  },
})
