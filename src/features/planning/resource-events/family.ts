import { family } from '../../family.ts'
import { issueNoteable } from '../issues/noteable.ts'
import { resourceEventsOn } from './endpoints.ts'
import { releaseResourceEvents } from './user-removal.ts'

export const resourceEvents = family({ routes: resourceEventsOn(issueNoteable), onUserRemoved: releaseResourceEvents })
