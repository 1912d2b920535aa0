import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import { UserSummaryEntity, presentUserSummary, type Authored, type Surroundings } from '../../identity/users/entity.ts'

export type CommitStatus = Row<'commit_statuses'>

export const CommitStatusEntity = entity({
  id: z.int(),
  sha: z.string(),
  ref: z.string(),
  status: z.enum(['pending', 'running', 'success', 'failed', 'canceled', 'skipped']),
  name: z.string(),
  target_url: z.string().nullable(),
  description: z.string().nullable(),
  created_at: timestampOut,
  started_at: timestampOut.nullable(),
  finished_at: timestampOut.nullable(),
  allow_failure: z.boolean(),
  coverage: z.number().nullable(),
  author: UserSummaryEntity.nullable(),
}).meta({ id: 'CommitStatus' })

export function presentStatus(
  status: Authored<CommitStatus>,
  around: Surroundings,
): z.infer<typeof CommitStatusEntity> {
  return {
    id: status.id,
    sha: status.sha,
    ref: status.ref,
    status: status.status,
    name: status.name,
    target_url: status.target_url,
    description: status.description,
    created_at: status.created_at,
    started_at: status.started_at,
    finished_at: status.finished_at,
    allow_failure: status.allow_failure,
    coverage: status.coverage,
    author: status.author && presentUserSummary(status.author, around),
  }
}
