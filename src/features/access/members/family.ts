import { family } from '../../family.ts'
import { purgeExpired, purgeRemoved } from './jobs.ts'
import { mailAdded, mailChanged } from './on.ts'

export const members = family({
  jobs: [purgeExpired, purgeRemoved],
  reactions: [mailAdded, mailChanged],
})
