/** Routes outside `/api/v4`: pages, files, health. One line per family, each in the family's `web.ts`. */
import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../api/metrics.ts'
import type { Door } from '../api/run.ts'
import * as avatars from './identity/users/web.ts'
import * as docs from './instance/docs/web.ts'

export type WebRoutes = (server: FastifyInstance, door: Door, metrics: Metrics) => void

export const web: WebRoutes[] = [avatars.routes, docs.routes]
