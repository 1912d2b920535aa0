import { family } from '../../family.ts'
import { mailManagers, mailDenial } from './on.ts'

export const accessRequests = family({ reactions: [mailManagers, mailDenial] })
