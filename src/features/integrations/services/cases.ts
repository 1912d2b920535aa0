import { casesOf, groupPath, projectPath, type Stage } from '../../../../test/cases.ts'

const webhook = { webhook: 'https://chat.example.org/hooks/1' }

const slug = (path: (s: Stage) => string) => async (s: Stage) => {
  await s.owner.put(`${path(s)}/slack`, webhook)
  return { slug: 'slack' }
}
const older = slug((s) => projectPath(s, '/services'))
const newer = slug((s) => projectPath(s, '/integrations'))
const ofGroup = slug((s) => groupPath(s, '/integrations'))

/**
 * A service that needs no outside server. Each case gets a project of its own, because tests of a service are rate
 * limited.
 */
const mailed = async (s: Stage) => {
  const { id } = await s.newProject()
  await s.owner.put(`/projects/${id}/integrations/emails-on-push`, { recipients: 'jane@example.com' })
  return { id, slug: 'emails-on-push' }
}

export const cases = casesOf(
  `
                                               anon strg extn guest rept devl mast ownr admn blkd
  GET /integrations                             401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/services           private  401  404  404  403  403  403  200  200  200  401
                                       public   401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/services/:slug     private  401  404  404  403  403  403  200  200  200  401
                                       public   401  403  403  403  403  403  200  200  200  401
  PUT /projects/:id/services/:slug     private  401  404  404  403  403  403  200  200  200  401
                                       public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/services/:slug  private  401  404  404  403  403  403  204  204  204  401
                                       public   401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/integrations           private  401  404  404  403  403  403  200  200  200  401
                                           public   401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/integrations/:slug     private  401  404  404  403  403  403  200  200  200  401
                                           public   401  403  403  403  403  403  200  200  200  401
  PUT /projects/:id/integrations/:slug     private  401  404  404  403  403  403  200  200  200  401
                                           public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/integrations/:slug  private  401  404  404  403  403  403  204  204  204  401
                                           public   401  403  403  403  403  403  204  204  204  401
  POST /projects/:id/integrations/:slug/test  private  401  404  404  403  403  403  201  201  201  401
                                              public   401  403  403  403  403  403  201  201  201  401
  GET /groups/:id/integrations             private  401  404  404  403  403  403  403  200  200  401
                                           public   401  403  403  403  403  403  403  200  200  401
  GET /groups/:id/integrations/:slug       private  401  404  404  403  403  403  403  200  200  401
                                           public   401  403  403  403  403  403  403  200  200  401
  PUT /groups/:id/integrations/:slug       private  401  404  404  403  403  403  403  200  200  401
                                           public   401  403  403  403  403  403  403  200  200  401
  DELETE /groups/:id/integrations/:slug    private  401  404  404  403  403  403  403  204  204  401
                                           public   401  403  403  403  403  403  403  204  204  401
`,
  {
    'GET /projects/:id/services/:slug': { at: older },
    'PUT /projects/:id/services/:slug': { at: older, input: webhook },
    'DELETE /projects/:id/services/:slug': { at: older },
    'GET /projects/:id/integrations/:slug': { at: newer },
    'PUT /projects/:id/integrations/:slug': { at: newer, input: webhook },
    'DELETE /projects/:id/integrations/:slug': { at: newer },
    'POST /projects/:id/integrations/:slug/test': { at: mailed },
    'GET /groups/:id/integrations/:slug': { at: ofGroup },
    'PUT /groups/:id/integrations/:slug': { at: ofGroup, input: webhook },
    'DELETE /groups/:id/integrations/:slug': { at: ofGroup },
  },
)
