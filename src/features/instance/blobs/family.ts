import { family } from '../../family.ts'
import { discardBlob } from './jobs.ts'

export const blobs = family({ jobs: [discardBlob] })
