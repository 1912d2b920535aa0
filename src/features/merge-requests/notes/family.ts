import { family } from '../../family.ts'
import { reactionsOn } from '../../planning/award-emoji/endpoints.ts'
import { discussionsOn, resolvingOn } from '../../planning/discussions/endpoints.ts'
import { notesOn } from '../../planning/notes/endpoints.ts'
import { resourceEventsOn } from '../../planning/resource-events/endpoints.ts'
import { mergeRequestNoteable as noteable } from './noteable.ts'

export const mergeRequestNotes = family({ routes: notesOn(noteable) })
export const mergeRequestDiscussions = family({ routes: { ...discussionsOn(noteable), ...resolvingOn(noteable) } })
export const mergeRequestAwards = family({ routes: reactionsOn(noteable) })
export const mergeRequestEvents = family({ routes: resourceEventsOn(noteable) })
