import { family } from '../../family.ts'
import { issueItems } from '../issues/item.ts'
import { timeTrackingOn } from './endpoints.ts'

export const timeTracking = family({ routes: timeTrackingOn(issueItems) })
