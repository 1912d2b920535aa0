import { family } from '../../family.ts'
import { sendDigests } from './digests.ts'
import { forgetNotifications, remindOfDueIssues, sendMails } from './jobs.ts'
import { reactions } from './on.ts'
import * as web from './web.ts'

export const notifications = family({
  jobs: [sendMails, sendDigests, forgetNotifications, remindOfDueIssues],
  reactions,
  web: [web.routes],
})
