import { on } from '../../../context.ts'
import { keepMilestones } from './promotion.ts'

export const keepMilestonesOfTransferred = on('project.transferred', 'milestones', keepMilestones)
