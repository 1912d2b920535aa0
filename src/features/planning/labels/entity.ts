import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { html } from '../../../lib/text/html.ts'
import { textColorOn } from './colors.ts'
import type { Label } from './model.ts'

const basic = {
  id: z.int(),
  name: z.string(),
  color: z.string(),
  description: z.string().nullable(),
}

/** In lists of boards. */
export const BasicLabelEntity = entity(basic).meta({ id: 'BasicLabel' })

const details = { ...basic, description_html: z.string().nullable(), text_color: z.string() }

/** In issues, where the client asks for details. */
export const LabelDetailsEntity = entity(details).meta({ id: 'LabelDetails' })

export const LabelEntity = entity({
  ...details,
  /** Absent if the client does not ask for counts. */
  open_issues_count: z.int().optional(),
  closed_issues_count: z.int().optional(),
  open_merge_requests_count: z.int().optional(),
  subscribed: z.boolean(),
  /** Only for labels of a project. */
  priority: z.int().nullable().optional(),
  is_project_label: z.boolean().optional(),
}).meta({ id: 'Label' })

export type LabelRecord = z.infer<typeof LabelEntity>

/** Counts as the viewer may see them. */
export interface LabelCounts {
  readonly opened: number
  readonly closed: number
  /** Open merge requests. */
  readonly mergeRequests: number
}

export interface LoadedLabel extends Label {
  readonly counts: LabelCounts | null
  readonly subscribed: boolean
  /** Absent for labels of a group. */
  readonly priority?: number | null
}

export const presentBasicLabel = (label: Label): z.infer<typeof BasicLabelEntity> => ({
  id: label.id,
  name: label.title,
  color: label.color,
  description: label.description,
})

export const presentLabelDetails = (label: Label): z.infer<typeof LabelDetailsEntity> => ({
  ...presentBasicLabel(label),
  description_html: label.description === null ? null : html`${label.description}`.toString(),
  text_color: textColorOn(label.color),
})

export function presentLabel(label: LoadedLabel): LabelRecord {
  const { counts, priority } = label
  return {
    ...presentLabelDetails(label),
    ...(counts && {
      open_issues_count: counts.opened,
      closed_issues_count: counts.closed,
      open_merge_requests_count: counts.mergeRequests,
    }),
    subscribed: label.subscribed,
    ...(priority !== undefined && { priority, is_project_label: label.project_id !== null }),
  }
}
