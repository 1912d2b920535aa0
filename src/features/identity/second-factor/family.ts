import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { dropSecondFactors } from './secrets.ts'

export const secondFactor = family({ routes, secretReset: dropSecondFactors })
