import { family } from '../../family.ts'
import { protectFilled } from './on.ts'
import * as routes from './routes.ts'

export const protectedBranches = family({
  routes,
  reactions: [protectFilled],
})
