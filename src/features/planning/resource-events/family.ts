import { family } from '../../family.ts'
import { releaseResourceEvents } from './user-removal.ts'
import * as routes from './routes.ts'

export const resourceEvents = family({ routes, onUserRemoved: releaseResourceEvents })
