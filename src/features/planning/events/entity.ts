import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import type { ListedItem, RegisteredKind } from '../items/registry.ts'
import type { Milestone } from '../milestones/model.ts'
import { noteableOf } from '../notes/entity.ts'
import type { Note } from '../notes/model.ts'
import type { Snippet } from '../snippets/model.ts'
import { KINDS, type Activity, type PushData } from './model.ts'

const EventNoteEntity = entity({
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
}).meta({ id: 'EventNote' })

export const EventEntity = entity({
  id: z.int(),
  project_id: z.int(),
  action_name: z.string(),
  target_id: z.int().nullable(),
  target_iid: z.int().nullable(),
  target_type: z.string().nullable(),
  author_id: z.int(),
  target_title: z.string().nullable(),
  created_at: timestampOut,
  author: UserSummaryEntity,
  author_username: z.string(),
  imported: z.boolean(),
  imported_from: z.string(),
  /** Only where the target is a note. */
  note: EventNoteEntity.optional(),
  push_data: entity({
    commit_count: z.int(),
    action: z.enum(['created', 'pushed', 'removed']),
    ref_type: z.enum(['branch', 'tag']),
    commit_from: z.string().nullable(),
    commit_to: z.string().nullable(),
    ref: z.string(),
    commit_title: z.string().nullable(),
    ref_count: z.int().nullable(),
  }).optional(),
}).meta({ id: 'Event' })

export interface LoadedActivity extends Activity {
  readonly author: User
  readonly item: (ListedItem & Pick<RegisteredKind, 'type'>) | undefined
  readonly milestone: Milestone | undefined
  readonly snippet: Pick<Snippet, 'title'> | undefined
  readonly note: (Note & { readonly author: User | null }) | undefined
}

export type EventRecord = z.infer<typeof EventEntity>
type Target = Pick<EventRecord, 'target_id' | 'target_iid' | 'target_type' | 'target_title'>

const NONE: Target = { target_id: null, target_iid: null, target_type: null, target_title: null }

function targetOf({ note, item, snippet, milestone, gone }: LoadedActivity): Target {
  if (note) {
    const { id, type } = note
    const target_title = item?.title ?? snippet?.title ?? null
    return { target_id: id, target_iid: id, target_type: type ?? 'Note', target_title }
  }
  if (item) return { target_id: item.id, target_iid: item.iid, target_type: item.type, target_title: item.title }
  const one = milestone ?? (gone === null ? null : (JSON.parse(gone) as Pick<Milestone, 'id' | 'iid' | 'title'>))
  return one ? { target_id: one.id, target_iid: one.iid, target_type: 'Milestone', target_title: one.title } : NONE
}

const presentNote = (
  note: NonNullable<LoadedActivity['note']>,
  item: LoadedActivity['item'],
  around: Surroundings,
): z.infer<typeof EventNoteEntity> => ({
  id: note.id,
  type: note.type,
  body: note.body,
  attachment: null,
  author: note.author && presentUserSummary(note.author, around),
  created_at: note.created_at,
  updated_at: note.updated_at,
  system: note.system,
  ...noteableOf(note),
  noteable_iid: item?.iid ?? null,
  commit_id: note.commit_sha,
  project_id: note.project_id,
  confidential: note.internal,
  internal: note.internal,
})

export const presentEvent = (activity: LoadedActivity, around: Surroundings): EventRecord => ({
  id: activity.id,
  project_id: activity.project_id,
  action_name: KINDS[activity.kind].shown,
  ...targetOf(activity),
  author_id: activity.author_id,
  created_at: activity.created_at,
  author: presentUserSummary(activity.author, around),
  author_username: activity.author.username,
  imported: false,
  imported_from: 'none',
  ...(activity.note && { note: presentNote(activity.note, activity.item, around) }),
  ...(activity.push !== null && { push_data: { ...(JSON.parse(activity.push) as PushData), ref_count: null } }),
})
