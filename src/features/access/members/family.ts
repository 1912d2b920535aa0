import { family } from '../../family.ts'
import { purgeExpired } from './jobs.ts'
import { purgeRemoved } from './removals.ts'
import { mailAdded, mailChanged } from './on.ts'

export const members = family({
  jobs: [purgeExpired, purgeRemoved],
  reactions: [mailAdded, mailChanged],
})
