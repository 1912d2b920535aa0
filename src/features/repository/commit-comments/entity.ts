import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import { UserSummaryEntity, presentUserSummary, type Authored, type Surroundings } from '../../identity/users/entity.ts'

export const CommitCommentEntity = entity({
  note: z.string(),
  path: z.string().nullable(),
  line: z.int().nullable(),
  line_type: z.enum(['new', 'old']).nullable(),
  author: UserSummaryEntity.nullable(),
  created_at: timestampOut,
}).meta({ id: 'CommitComment' })

export function presentComment(
  comment: Authored<Row<'commit_comments'>>,
  around: Surroundings,
): z.infer<typeof CommitCommentEntity> {
  return {
    note: comment.note,
    path: comment.path,
    line: comment.line,
    line_type: comment.line_type,
    author: comment.author && presentUserSummary(comment.author, around),
    created_at: comment.created_at,
  }
}
