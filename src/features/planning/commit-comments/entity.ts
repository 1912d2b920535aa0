import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import { UserSummaryEntity, presentUserSummary, type Authored, type Surroundings } from '../../identity/users/entity.ts'
import { positionOf } from '../notes/entity.ts'
import type { Note } from '../notes/model.ts'

export const CommitCommentEntity = entity({
  note: z.string(),
  path: z.string().nullable(),
  line: z.int().nullable(),
  line_type: z.enum(['new', 'old']).nullable(),
  author: UserSummaryEntity.nullable(),
  created_at: timestampOut,
}).meta({ id: 'CommitComment' })

type Comment = z.infer<typeof CommitCommentEntity>

export function presentComment(note: Authored<Note>, around: Surroundings): Comment {
  return {
    note: note.body,
    ...anchorOf(note),
    author: note.author && presentUserSummary(note.author, around),
    created_at: note.created_at,
  }
}

/** An unchanged line has its new number. */
function anchorOf(note: Note): Pick<Comment, 'path' | 'line' | 'line_type'> {
  const position = positionOf(note)
  if (!position) return { path: null, line: null, line_type: null }
  const { old_path, new_path, old_line, new_line } = position
  if (new_line === null && old_line !== null) return { path: old_path, line: old_line, line_type: 'old' }
  return { path: new_path, line: new_line, line_type: new_line === null ? null : 'new' }
}
