import { family } from '../../family.ts'
import { sweepDeliveries } from './jobs.ts'
import { replayEvents } from './replays.ts'
import * as routes from './routes.ts'

export const hookDeliveries = family({ routes, jobs: [sweepDeliveries, replayEvents] })
