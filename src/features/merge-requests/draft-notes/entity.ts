import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { PositionEntity, type Position } from '../../planning/notes/positions.ts'
import type { DraftNote } from './model.ts'

export const DraftNoteEntity = entity({
  id: z.int(),
  author_id: z.int(),
  merge_request_id: z.int(),
  resolve_discussion: z.boolean(),
  discussion_id: z.string().nullable(),
  note: z.string(),
  commit_id: z.string().nullable(),
  line_code: z.string().nullable(),
  position: PositionEntity.nullable(),
}).meta({ id: 'DraftNote' })

export const presentDraft = (draft: DraftNote): z.infer<typeof DraftNoteEntity> => ({
  id: draft.id,
  author_id: draft.author_id,
  merge_request_id: draft.merge_request_id,
  resolve_discussion: draft.resolve_discussion,
  discussion_id: draft.discussion_id,
  note: draft.note,
  commit_id: draft.commit_sha,
  line_code: draft.line_code,
  position: draft.position === null ? null : (JSON.parse(draft.position) as Position),
})
