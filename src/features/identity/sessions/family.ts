import { family } from '../../family.ts'
import { answerPasswordReset, purge } from './jobs.ts'
import * as linksWeb from './links-web.ts'
import * as passkeyWeb from './passkey-web.ts'
import * as routes from './routes.ts'
import * as web from './web.ts'

export const session = family({
  routes,
  jobs: [answerPasswordReset, purge],
  web: [web.routes, linksWeb.routes, passkeyWeb.routes],
})
