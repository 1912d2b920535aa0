import { family } from '../../family.ts'
import { purgeExpired } from './jobs.ts'
import { tellAdded, tellChanged } from './on.ts'

export const members = family({
  jobs: [purgeExpired],
  reactions: [tellAdded, tellChanged],
})
