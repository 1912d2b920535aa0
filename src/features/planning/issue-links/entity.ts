import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import { IssueEntity } from '../issues/entity.ts'

const linkType = z.enum(['relates_to', 'blocks', 'is_blocked_by'])

/** The other issue, and the type of the link. */
export const LinkedIssueEntity = entity({
  ...IssueEntity.shape,
  issue_link_id: z.int(),
  link_type: linkType,
  link_created_at: timestampOut,
  link_updated_at: timestampOut,
}).meta({ id: 'LinkedIssue' })

export const IssueLinkEntity = entity({
  id: z.int(),
  source_issue: IssueEntity,
  target_issue: IssueEntity,
  link_type: linkType,
}).meta({ id: 'IssueLink' })
