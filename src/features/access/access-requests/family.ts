import { family } from '../../family.ts'
import { tellManagers, tellDenied } from './on.ts'

export const accessRequests = family({ reactions: [tellManagers, tellDenied] })
