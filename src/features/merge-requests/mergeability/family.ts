import { family } from '../../family.ts'
import { checkTarget } from './jobs.ts'

export const mergeability = family({ jobs: [checkTarget] })
