import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { GATES, type Gate } from './gates.ts'

const LIFTERS = ['author', 'developers', 'approvers', 'reviewers', 'masters', 'pipeline', 'server', 'nobody'] as const

export const MergeabilityEntity = entity({
  mergeable: z.boolean(),
  merge_status: z.enum(['unchecked', 'can_be_merged', 'cannot_be_merged']),
  detailed_merge_status: z.string(),
  gates: z.array(
    entity({
      name: z.enum([...GATES, 'rights']),
      state: z.enum(['passed', 'blocked', 'waiting', 'off']),
      reason: z.string().nullable(),
      lifted_by: z.array(z.enum(LIFTERS)),
    }),
  ),
  /** Conflicting paths. */
  conflicts: z.array(z.string()),
}).meta({ id: 'Mergeability' })

export type GateRecord = z.infer<typeof MergeabilityEntity>['gates'][number]

export const presentGate = ({ name, state, reason, lift }: Gate): GateRecord => ({
  name,
  state,
  reason,
  lifted_by: [...lift],
})

/** Whether the caller may merge into the branch. */
export const presentRights = (mayMerge: boolean, branch: string): GateRecord => ({
  name: 'rights',
  state: mayMerge ? 'passed' : 'blocked',
  reason: mayMerge ? null : `You don't have permission to merge into ${branch}`,
  lifted_by: mayMerge ? [] : ['masters'],
})
