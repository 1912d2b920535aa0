import { family } from '../../family.ts'
import * as jobRoutes from './job-routes.ts'
import * as routes from './routes.ts'
import { endVigils } from './web.ts'

export const runnerProtocol = family({ routes: { ...routes, ...jobRoutes }, web: [endVigils] })
