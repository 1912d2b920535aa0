import { issueKind } from '../issues/kind.ts'
import { trackTime } from './tracking.ts'

export const { estimate, resetEstimate, spend, resetSpent } = trackTime(issueKind)
