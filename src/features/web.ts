/** Routes outside `/api/v4`: pages, files, health. One line per family, each in the family's `web.ts`. */
import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../api/metrics.ts'
import type { Gateway } from '../api/run.ts'
import * as invitations from './access/invitations/web.ts'
import * as groupAvatars from './groups/groups/web.ts'
import * as oauthConsent from './identity/oauth/web.ts'
import * as oauthTokens from './identity/oauth/token-web.ts'
import * as mailedLinks from './identity/sessions/links-web.ts'
import * as sessions from './identity/sessions/web.ts'
import * as avatars from './identity/users/web.ts'
import * as docs from './instance/docs/web.ts'
import * as health from './instance/health/web.ts'
import * as projectAvatars from './projects/projects/avatar-web.ts'
import * as projects from './projects/projects/web.ts'

export type WebRoutes = (server: FastifyInstance, gateway: Gateway, metrics: Metrics) => void

export const web: WebRoutes[] = [
  sessions.routes,
  mailedLinks.routes,
  invitations.routes,
  oauthConsent.routes,
  oauthTokens.routes,
  avatars.routes,
  groupAvatars.routes,
  projectAvatars.routes,
  docs.routes,
  health.routes,
  projects.routes,
]
