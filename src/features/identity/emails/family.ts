import { family } from '../../family.ts'
import { askToConfirm } from './on.ts'
import * as routes from './routes.ts'

export const emails = family({ routes, reactions: [askToConfirm] })
