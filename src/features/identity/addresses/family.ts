import { family } from '../../family.ts'
import { purgeAddresses } from './jobs.ts'

export const addresses = family({ jobs: [purgeAddresses] })
