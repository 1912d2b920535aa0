import { family } from '../../family.ts'
import { keepLabelsOfTransferred } from './on.ts'
import * as routes from './routes.ts'

export const labels = family({ routes, reactions: [keepLabelsOfTransferred] })
