import { z } from 'zod'
import { endpoint, optional } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { filledLongText, int, oneOf, text } from '../../../api/wire.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { commit } from '../../repository/commits/queries.ts'
import { onlyObeyed } from '../notes/endpoints.ts'
import { CommitCommentEntity, presentComment } from './entity.ts'
import { commentCommit, listComments } from './service.ts'

const PATH = '/projects/:id/repository/commits/:sha/comments'

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the comments on a commit',
  on: commit,
  allow: 'download',
  by: 'visitor',
  output: pageOf(CommitCommentEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listComments(app.db, subject, subject.commit, page)
    const around = await surroundings(app)
    const comments = await withUsers(app.db, items, { author: 'author_id' })
    return { total, items: comments.map((comment) => presentComment(comment, around)) }
  },
})

const lineMissing = () => new Refusal('bad_request', '400 (Bad request) line not given', { error: 'line is missing' })

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Comment on a commit, or on a changed line',
  throttle: 'notes_create_limit',
  on: optional(commit),
  allow: 'comment',
  input: z.object({
    note: filledLongText,
    path: text.nullish(),
    line: int.nullish(),
    line_type: oneOf('new', 'old').nullish(),
  }),
  output: CommitCommentEntity,
  async handle({ app, viewer, subject, input: { note, path, line, line_type } }) {
    if (path && typeof line !== 'number') throw lineMissing()
    if (!subject.commit) throw notFound('Commit')
    const anchor = path ? { path, line: line!, line_type: line_type ?? ('new' as const) } : null
    const outcome = await commentCommit(app, viewer, subject, subject.commit, { note, anchor })
    if (!outcome.note) return onlyObeyed(outcome.obeyed)
    return presentComment({ ...outcome.note, author: viewer }, await surroundings(app))
  },
})
