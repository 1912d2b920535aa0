import { family } from '../../family.ts'
import { inspectLater } from './jobs.ts'
import { finishChanges } from './recovery.ts'

export const gate = family({ jobs: [inspectLater, finishChanges] })
