import { family } from '../../family.ts'
import { labelBin } from './bin.ts'
import { reactions } from './on.ts'
import { settle } from '../settling.ts'
import * as routes from './routes.ts'

export const labels = family({ routes, jobs: [settle], reactions, bin: labelBin })
