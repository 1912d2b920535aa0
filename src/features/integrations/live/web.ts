import type { WebRoutes } from '../../../api/server.ts'
import { endLive } from './hub.ts'

/** Who listens is let go before the server closes: it would wait for them. */
export const endListening: WebRoutes = (server, { app }) => {
  server.addHook('preClose', (done) => {
    endLive(app)
    done()
  })
}
