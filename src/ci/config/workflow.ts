import type { Spot } from './faults.ts'
import type { Value } from './tree.ts'
import { knowsKeys, mappingOf, oneOf } from './values.ts'

const ON_NEW_COMMIT = ['conservative', 'interruptible', 'none'] as const
const ON_JOB_FAILURE = ['none', 'all'] as const

export interface AutoCancel {
  readonly on_new_commit: (typeof ON_NEW_COMMIT)[number] | null
  readonly on_job_failure: (typeof ON_JOB_FAILURE)[number] | null
}

export function readAutoCancel(value: Value, spot: Spot): AutoCancel | null {
  const entry = mappingOf(spot, value)
  if (!entry) return null
  knowsKeys(spot, entry, ['on_new_commit', 'on_job_failure'])
  return {
    on_new_commit: oneOf(spot, entry, 'on_new_commit', ON_NEW_COMMIT),
    on_job_failure: oneOf(spot, entry, 'on_job_failure', ON_JOB_FAILURE),
  }
}
