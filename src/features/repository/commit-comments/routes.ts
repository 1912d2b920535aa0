import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { filledText, int, oneOf, text } from '../../../api/wire.ts'
import { Refusal } from '../../../errors.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { commitOr404 } from '../commits/queries.ts'
import { repository } from '../repositories/queries.ts'
import { CommitCommentEntity, presentComment } from './entity.ts'
import { commentCommit, listComments } from './service.ts'

const PATH = '/projects/:id/repository/commits/:sha/comments'

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the comments on a commit',
  on: repository,
  allow: 'download',
  guest: true,
  abilityFirst: true,
  input: z.object({ sha: text }),
  output: pageOf(CommitCommentEntity),
  async handle({ app, subject, input, page }) {
    const { id } = await commitOr404(subject, input.sha)
    const { items, total } = await listComments(app.db, subject.project.id, id, page)
    const around = await surroundings(app)
    const comments = await withUsers(app.db, items, { author: 'author_id' })
    return { total, items: comments.map((comment) => presentComment(comment, around)) }
  },
})

const lineMissing = () => new Refusal('bad_request', '400 (Bad request) line not given', { error: 'line is missing' })

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Comment a commit, or a line it changed',
  on: repository,
  allow: 'comment',
  abilityFirst: 'download',
  input: z.object({
    sha: text,
    note: filledText,
    path: text.nullish(),
    line: int.nullish(),
    line_type: oneOf('new', 'old').nullish(),
  }),
  output: CommitCommentEntity,
  async handle({ app, viewer, subject, input: { sha, note, path, line, line_type } }) {
    if (path && typeof line !== 'number') throw lineMissing()
    const commit = await commitOr404(subject, sha)
    const anchor = path ? { path, line: line!, line_type: line_type ?? ('new' as const) } : null
    const comment = await commentCommit(app, viewer, subject, commit, { note, anchor })
    return presentComment({ ...comment, author: viewer }, await surroundings(app))
  },
})
