import { pageBelow } from '../../../lib/net/page-below.ts'
import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { JOB_STATUSES, type Job } from '../jobs/model.ts'

export const CommitStatusEntity = entity({
  id: z.int(),
  sha: z.string(),
  ref: z.string(),
  status: z.enum(JOB_STATUSES),
  name: z.string(),
  target_url: z.string().nullable(),
  description: z.string().nullable(),
  created_at: timestampOut,
  started_at: timestampOut.nullable(),
  finished_at: timestampOut.nullable(),
  allow_failure: z.boolean(),
  coverage: z.number().nullable(),
  author: UserSummaryEntity.nullable(),
  pipeline_id: z.int(),
}).meta({ id: 'CommitStatus' })

export function presentStatus(
  status: Job & { readonly author: User | null },
  around: Surroundings,
  /** The URL of the project's pages. */
  url: string,
): z.infer<typeof CommitStatusEntity> {
  return {
    id: status.id,
    sha: status.sha,
    ref: status.ref,
    status: status.status,
    name: status.name,
    target_url: status.kind === 'external' ? status.target_url : pageBelow(url, `jobs/${status.id}`),
    description: status.description,
    created_at: status.created_at,
    started_at: status.started_at,
    finished_at: status.finished_at,
    allow_failure: status.allow_failure,
    coverage: status.coverage,
    author: status.author && presentUserSummary(status.author, around),
    pipeline_id: status.pipeline_id,
  }
}
