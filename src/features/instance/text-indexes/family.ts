import { family } from '../../family.ts'
import { merge } from './jobs.ts'

export const textIndexes = family({ jobs: [merge] })
