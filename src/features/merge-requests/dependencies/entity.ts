import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { MergeRequestEntity } from '../merge-requests/entity.ts'

/** A merge request that the viewer may not see is null. */
export const BlockEntity = entity({
  id: z.int(),
  project_id: z.int(),
  blocking_merge_request: MergeRequestEntity.nullable(),
  blocked_merge_request: MergeRequestEntity.nullable(),
}).meta({ id: 'MergeRequestDependency' })
