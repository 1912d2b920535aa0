import type { WebRoutes } from '../../../api/server.ts'
import { endLive } from './hub.ts'

/** Closes live connections before the server closes: the server would wait for them. */
export const endListening: WebRoutes = (server, { app }) => {
  server.addHook('preClose', (done) => {
    endLive(app)
    done()
  })
}
