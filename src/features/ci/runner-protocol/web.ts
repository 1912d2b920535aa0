import type { WebRoutes } from '../../../api/server.ts'
import { dismissWaiting } from '../jobs/waiting.ts'

/** Runners that wait are answered before the server closes: it would wait for them. */
export const endVigils: WebRoutes = (server, { app }) => {
  server.addHook('preClose', (done) => {
    dismissWaiting(app)
    done()
  })
}
