import { family } from '../../family.ts'
import { sweep } from './jobs.ts'

export const spool = family({ jobs: [sweep] })
