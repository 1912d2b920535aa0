import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { MatchedLines } from '../../../git/history/search.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { noteableOf } from '../notes/entity.ts'
import type { Note } from '../notes/model.ts'

/** A match in a file. */
export const BlobMatchEntity = entity({
  /** The path without the file extension. */
  basename: z.string(),
  data: z.string(),
  path: z.string(),
  /** The path again, for older clients. */
  filename: z.string(),
  id: z.null(),
  ref: z.string(),
  startline: z.int(),
  project_id: z.int(),
}).meta({ id: 'FoundBlob' })

export function presentBlobMatch(
  { path, data, startline }: MatchedLines,
  { ref, project_id }: { ref: string; project_id: number },
): z.infer<typeof BlobMatchEntity> {
  const basename = path.replace(/(?<=[^/])\.[^./]*$/, '')
  return { basename, data, path, filename: path, id: null, ref, startline, project_id }
}

export const NoteMatchEntity = entity({
  id: z.int(),
  type: z.string().nullable(),
  body: z.string(),
  attachment: z.null(),
  author: UserSummaryEntity.nullable(),
  created_at: timestampOut,
  updated_at: timestampOut,
  system: z.boolean(),
  noteable_id: z.int().nullable(),
  noteable_type: z.enum(['Issue', 'MergeRequest', 'Commit', 'Snippet']),
  noteable_iid: z.int().nullable(),
  commit_id: z.string().nullable(),
  project_id: z.int(),
  confidential: z.boolean(),
  internal: z.boolean(),
}).meta({ id: 'FoundNote' })

export interface LoadedNote extends Note {
  readonly author: User | null
  readonly iid: number | null
}

export function presentNoteMatch(note: LoadedNote, around: Surroundings): z.infer<typeof NoteMatchEntity> {
  return {
    id: note.id,
    type: note.type,
    body: note.body,
    attachment: null,
    author: note.author && presentUserSummary(note.author, around),
    created_at: note.created_at,
    updated_at: note.updated_at,
    system: note.system,
    ...noteableOf(note),
    noteable_iid: note.iid,
    commit_id: note.commit_sha,
    project_id: note.project_id,
    confidential: note.internal,
    internal: note.internal,
  }
}
