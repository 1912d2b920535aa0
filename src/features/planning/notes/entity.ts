import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Authored, type Surroundings } from '../../identity/users/entity.ts'
import { AwardEmojiEntity } from '../award-emoji/entity.ts'
import type { ItemColumn } from '../items/kind.ts'
import { itemIn } from '../items/registry.ts'
import type { Note } from './model.ts'
import { PositionEntity, type Position } from './positions.ts'
import { SuggestionEntity, type SuggestionRecord } from './suggestion-entity.ts'
import type { NoteableItem } from './noteable.ts'

export const NoteEntity = entity({
  id: z.int(),
  type: z.enum(['DiscussionNote', 'DiffNote']).nullable(),
  body: z.string(),
  attachment: z.null(),
  author: UserSummaryEntity.nullable(),
  created_at: timestampOut,
  updated_at: timestampOut,
  system: z.boolean(),
  noteable_id: z.int().nullable(),
  noteable_type: z.enum(['Issue', 'MergeRequest', 'Commit', 'Snippet']),
  noteable_iid: z.int().nullable(),
  project_id: z.int(),
  commit_id: z.string().nullable(),
  /** Only for a note on a diff. */
  position: PositionEntity.optional(),
  /** The position when the note was written. */
  original_position: PositionEntity.optional(),
  /** Only for a note on a line that can be replaced. */
  suggestions: z.array(SuggestionEntity).optional(),
  resolvable: z.boolean(),
  /** Only for resolvable notes. */
  resolved: z.boolean().optional(),
  resolved_by: UserSummaryEntity.nullable().optional(),
  resolved_at: timestampOut.nullable().optional(),
  confidential: z.boolean(),
  internal: z.boolean(),
  commands_changes: z.record(z.string(), z.unknown()),
  imported: z.boolean(),
  imported_from: z.string(),
  /** With `render_html`: rendered for the viewer. */
  body_html: z.string().optional(),
  award_emoji: z.array(AwardEmojiEntity).optional(),
}).meta({ id: 'Note' })

export type NoteRecord = z.infer<typeof NoteEntity>

export const positionOf = ({ position }: Pick<Note, 'position'>): Position | null =>
  position === null ? null : (JSON.parse(position) as Position)

/** User notes in threads are resolvable, system notes are not. */
export const isResolvable = (
  { threads }: Pick<NoteableItem, 'threads'>,
  { type, system }: Pick<Note, 'type' | 'system'>,
) => threads !== undefined && type !== null && !system

/** Id and type of the noteable, without its iid. */
export function noteableOf(note: Pick<Note, ItemColumn | 'snippet_id'>) {
  const item = itemIn(note)
  const other = note.snippet_id === null ? ('Commit' as const) : ('Snippet' as const)
  return { noteable_id: item?.id ?? note.snippet_id, noteable_type: item?.kind.type ?? other }
}

export function presentNote(
  note: Authored<Note> & { readonly resolver: User | null },
  topic: Pick<NoteableItem, 'type' | 'id' | 'iid' | 'threads'>,
  around: Surroundings,
  suggestions: readonly SuggestionRecord[] | undefined,
): NoteRecord {
  const position = positionOf(note)
  const original = note.original_position
  const resolvable = isResolvable(topic, note)
  return {
    id: note.id,
    type: note.type,
    body: note.body,
    attachment: null,
    author: note.author && presentUserSummary(note.author, around),
    created_at: note.created_at,
    updated_at: note.updated_at,
    system: note.system,
    noteable_id: topic.id,
    noteable_type: topic.type,
    noteable_iid: topic.iid,
    project_id: note.project_id,
    commit_id: note.commit_sha ?? note.thread_commit_sha,
    ...(position && { position }),
    ...(original !== null && { original_position: JSON.parse(original) as Position }),
    ...(suggestions && { suggestions: [...suggestions] }),
    resolvable,
    ...(resolvable && {
      resolved: note.resolved_at !== null,
      resolved_by: note.resolver && presentUserSummary(note.resolver, around),
      resolved_at: note.resolved_at,
    }),
    confidential: note.internal,
    internal: note.internal,
    commands_changes: {},
    imported: false,
    imported_from: 'none',
  }
}
