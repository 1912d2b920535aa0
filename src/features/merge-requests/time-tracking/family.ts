import { family } from '../../family.ts'
import { timeTrackingOn } from '../../planning/time-tracking/endpoints.ts'
import { mergeRequestItems } from '../merge-requests/item.ts'

export const mergeRequestTimes = family({ routes: timeTrackingOn(mergeRequestItems) })
