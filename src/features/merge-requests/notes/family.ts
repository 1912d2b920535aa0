import { family } from '../../family.ts'
import * as awards from './award-routes.ts'
import * as discussions from './discussion-routes.ts'
import * as events from './event-routes.ts'
import * as notes from './note-routes.ts'

export const mergeRequestNotes = family({ routes: notes })
export const mergeRequestDiscussions = family({ routes: discussions })
export const mergeRequestAwards = family({ routes: awards })
export const mergeRequestEvents = family({ routes: events })
