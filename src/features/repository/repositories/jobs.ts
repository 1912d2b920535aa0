import { HOUR } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { sweepArchives } from './archives.ts'

export const dropOldArchives = job('repositories.drop_archives', sweepArchives, { every: HOUR })
