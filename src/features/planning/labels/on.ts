import { on } from '../../../context.ts'
import { keepLabels } from './promotion.ts'

export const keepLabelsOfTransferred = on('project.transferred', 'labels', keepLabels)
