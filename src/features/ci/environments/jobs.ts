import { MINUTE } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { stopDue } from './stopping.ts'

export const stopDueEnvironments = job<object>('ci.stop_environments', async (app) => stopDue(app), { every: MINUTE })
