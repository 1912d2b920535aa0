import type { WebRoutes } from '../../../api/server.ts'
import { dismissWaiting } from '../jobs/waiting.ts'

/** Answers waiting runners before the server closes, because closing waits for open requests. */
export const endVigils: WebRoutes = (server, { app }) => {
  server.addHook('preClose', (done) => {
    dismissWaiting(app)
    done()
  })
}
