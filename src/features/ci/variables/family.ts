import { family } from '../../family.ts'
import * as instanceRoutes from './instance-routes.ts'
import * as routes from './routes.ts'
import { dropVariables } from './secrets.ts'

export const ciVariables = family({ routes: { ...routes, ...instanceRoutes }, secretReset: dropVariables })
