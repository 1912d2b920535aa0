/** The fields that records of all items have. */
import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { LabelDetailsEntity, presentLabelDetails } from '../labels/entity.ts'
import { MilestoneEntity } from '../milestones/entity.ts'
import { TimeStatsEntity, presentTimeStats } from '../time-tracking/entity.ts'
import type { ItemKind, ItemRow } from './kind.ts'
import type { Relations } from './load.ts'

/** Of short records. */
export const itemSummary = {
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  created_at: timestampOut,
  updated_at: timestampOut,
}

export const itemRecord = {
  ...itemSummary,
  closed_at: timestampOut.nullable(),
  closed_by: UserSummaryEntity.nullable(),
  /** Titles, or with `with_labels_details` records. */
  labels: z.union([z.array(z.string()), z.array(LabelDetailsEntity)]),
  milestone: MilestoneEntity.nullable(),
  assignees: z.array(UserSummaryEntity),
  assignee: UserSummaryEntity.nullable(),
  author: UserSummaryEntity.nullable(),
  user_notes_count: z.int(),
  upvotes: z.int(),
  downvotes: z.int(),
  discussion_locked: z.boolean().nullable(),
  web_url: z.string(),
  time_stats: TimeStatsEntity,
  task_completion_status: entity({ count: z.int(), completed_count: z.int() }),
  references: entity({ short: z.string(), relative: z.string(), full: z.string() }),
  imported: z.boolean(),
  imported_from: z.string(),
}

type ItemRecord = z.infer<z.ZodObject<typeof itemRecord>>

export type LoadedItem = ItemRow & Relations & { readonly author: User | null; readonly closer: User | null }

export interface ItemSurroundings {
  readonly users: Surroundings
  readonly labelDetails: boolean
  /** Whether the list has records of several projects. */
  readonly isMixed: boolean
}

export const presentSummary = (item: ItemRow): z.infer<z.ZodObject<typeof itemSummary>> => ({
  id: item.id,
  iid: item.iid,
  project_id: item.project_id,
  title: item.title,
  description: item.description,
  created_at: item.created_at,
  updated_at: item.updated_at,
})

/** The address of the page. */
export const pageOfItem = ({ table }: ItemKind, url: string, path: string, iid: number): string =>
  pageBelow(`${url}/${path}`, `${table}/${iid}`)

export function presentItem(kind: ItemKind, item: LoadedItem, around: ItemSurroundings): ItemRecord {
  const { users, labelDetails, isMixed } = around
  const short = `${kind.sign}${item.iid}`
  const full = `${item.path}${short}`
  const user = (one: User | null) => one && presentUserSummary(one, users)
  const assignees = item.assignees.map((one) => presentUserSummary(one, users))
  return {
    ...presentSummary(item),
    closed_at: item.closed_at,
    closed_by: user(item.closer),
    labels: labelDetails ? item.labels.map(presentLabelDetails) : item.labels.map(({ title }) => title),
    milestone: item.milestone,
    assignees,
    assignee: assignees[0] ?? null,
    author: user(item.author),
    user_notes_count: item.user_notes_count,
    upvotes: item.upvotes,
    downvotes: item.downvotes,
    discussion_locked: item.discussion_locked,
    web_url: pageOfItem(kind, users.url, item.path, item.iid),
    time_stats: presentTimeStats(item),
    task_completion_status: { count: item.tasks, completed_count: item.tasks_completed },
    references: { short, relative: isMixed ? full : short, full },
    imported: false,
    imported_from: 'none',
  }
}
