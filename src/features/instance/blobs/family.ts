import { family } from '../../family.ts'
import { discardBlob, sweepBlobs } from './jobs.ts'

export const blobs = family({ jobs: [discardBlob, sweepBlobs] })
