import { family } from '../../family.ts'
import { forgetNotifications, remindOfDueIssues, sendMails } from './jobs.ts'
import { reactions } from './on.ts'
import * as web from './web.ts'

export const notifications = family({
  jobs: [sendMails, forgetNotifications, remindOfDueIssues],
  reactions,
  web: [web.routes],
})
