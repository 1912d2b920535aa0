import { trackTime } from '../../planning/time-tracking/tracking.ts'
import { mergeRequestKind } from '../merge-requests/kind.ts'

export const { estimate, resetEstimate, spend, resetSpent } = trackTime(mergeRequestKind)
