import { family } from '../../family.ts'
import { purgeExpired } from './jobs.ts'
import { mailAdded, mailChanged } from './on.ts'

export const members = family({
  jobs: [purgeExpired],
  reactions: [mailAdded, mailChanged],
})
