import { family } from '../../family.ts'
import { dropOldMails, sendMail } from '../mailing.ts'
import { askToConfirm } from './on.ts'
import * as routes from './routes.ts'

export const emails = family({ routes, jobs: [sendMail, dropOldMails], reactions: [askToConfirm] })
