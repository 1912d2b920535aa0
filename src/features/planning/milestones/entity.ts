import { pageBelow } from '../../../lib/net/page-below.ts'
import { z } from 'zod'
import { dateOut, entity, timestampOut } from '../../../api/wire.ts'
import type { Milestone } from './model.ts'

export const MilestoneEntity = entity({
  id: z.int(),
  iid: z.int(),
  /** Exactly one of the two: the owner of the milestone. */
  project_id: z.int().optional(),
  group_id: z.int().optional(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['active', 'closed']),
  created_at: timestampOut,
  updated_at: timestampOut,
  due_date: dateOut.nullable(),
  start_date: dateOut.nullable(),
  expired: z.boolean(),
  web_url: z.string(),
}).meta({ id: 'Milestone' })

export type MilestoneRecord = z.infer<typeof MilestoneEntity>

export interface LoadedMilestone extends Milestone {
  /** The path of the project or the group. */
  readonly path: string
}

export interface MilestoneSurroundings {
  readonly url: string
  /** `YYYY-MM-DD` */
  readonly today: string
}

export function presentMilestone(milestone: LoadedMilestone, { url, today }: MilestoneSurroundings): MilestoneRecord {
  const { project_id, group_id, due_date } = milestone
  return {
    id: milestone.id,
    iid: milestone.iid,
    ...(project_id === null ? { group_id: group_id! } : { project_id }),
    title: milestone.title,
    description: milestone.description,
    state: milestone.state,
    created_at: milestone.created_at,
    updated_at: milestone.updated_at,
    due_date,
    start_date: milestone.start_date,
    expired: due_date !== null && due_date < today,
    web_url: pageBelow(
      `${url}/${project_id === null ? 'groups/' : ''}${milestone.path}`,
      `milestones/${milestone.iid}`,
    ),
  }
}
