import { family } from '../../family.ts'
import { forgetAuditEvents } from './jobs.ts'
import * as routes from './routes.ts'

export const auditEvents = family({ routes, jobs: [forgetAuditEvents] })
