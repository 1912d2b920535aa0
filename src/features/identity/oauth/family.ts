import { family } from '../../family.ts'
import * as routes from './routes.ts'
import * as tokenWeb from './token-web.ts'
import * as web from './web.ts'

export const applications = family({
  routes,
  web: [web.routes, tokenWeb.routes],
})
