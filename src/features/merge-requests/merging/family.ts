import { family } from '../../family.ts'
import { followMerged } from './effects.ts'
import { mergeWhenSucceeded } from './auto-merge.ts'
import { finishMerges } from './recovery.ts'
import * as routes from './routes.ts'

export const merging = family({ routes, jobs: [finishMerges], reactions: [followMerged, mergeWhenSucceeded] })
