import { family } from '../../family.ts'
import * as routes from './routes.ts'

export const backups = family({ routes })
