import { casesOf, groupPath, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newLabel = () => ({ name: unique('label'), color: '#FF0000' })

const ofProject = async (s: Stage) => s.make(projectPath(s, '/labels'), newLabel())
const ofGroup = async (s: Stage) => s.make(groupPath(s, '/labels'), newLabel())
const label = async (s: Stage) => ({ label_id: (await ofProject(s)).id })
const groupLabel = async (s: Stage) => ({ label_id: (await ofGroup(s)).id })
const named = async (s: Stage) => ({ name: (await ofProject(s)).name })
const groupNamed = async (s: Stage) => ({ name: (await ofGroup(s)).name })

const subscribedBy = async (s: Stage, who: Parameters<Stage['make']>[2]) => {
  const { label_id } = await label(s)
  await s.forge.administrator.post(projectPath(s, `/labels/${label_id}/subscribe`), { sudo: who!.id })
  return { label_id }
}
const subscribedInGroupBy = async (s: Stage, who: Parameters<Stage['make']>[2]) => {
  const { label_id } = await groupLabel(s)
  await s.forge.administrator.post(groupPath(s, `/labels/${label_id}/subscribe`), { sudo: who!.id })
  return { label_id }
}

export const cases = casesOf(
  `
                                                             anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/labels                           private  404  404  404  200  200  200  200  200  200  401
                                                     public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/labels/:label_id                 private  404  404  404  200  200  200  200  200  200  401
                                                     public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/labels                          private  401  404  404  403  201  201  201  201  201  401
                                                     public   401  403  403  403  201  201  201  201  201  401
  PUT /projects/:id/labels                           private  401  404  404  403  200  200  200  200  200  401
                                                     public   401  403  403  403  200  200  200  200  200  401
  PUT /projects/:id/labels/:label_id                 private  401  404  404  403  200  200  200  200  200  401
                                                     public   401  403  403  403  200  200  200  200  200  401
  DELETE /projects/:id/labels                        private  401  404  404  403  204  204  204  204  204  401
                                                     public   401  403  403  403  204  204  204  204  204  401
  DELETE /projects/:id/labels/:label_id              private  401  404  404  403  204  204  204  204  204  401
                                                     public   401  403  403  403  204  204  204  204  204  401
  POST /projects/:id/labels/:label_id/subscribe      private  401  404  404  201  201  201  201  201  201  401
                                                     public   401  201  201  201  201  201  201  201  201  401
  POST /projects/:id/labels/:label_id/unsubscribe    private  401  404  404  201  201  201  201  201  201  401
                                                     public   401  201  201  201  201  201  201  201  201  401
  PUT /projects/:id/labels/promote                   private  401  404  404  403  200  200  200  200  200  401
                                                     public   401  403  403  403  200  200  200  200  200  401
  PUT /projects/:id/labels/:label_id/promote         private  401  404  404  403  200  200  200  200  200  401
                                                     public   401  403  403  403  200  200  200  200  200  401
  GET /groups/:id/labels                             private  404  404  404  200  200  200  200  200  200  401
                                                     public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/labels/:label_id                   private  404  404  404  200  200  200  200  200  200  401
                                                     public   200  200  200  200  200  200  200  200  200  401
  POST /groups/:id/labels                            private  401  404  404  403  201  201  201  201  201  401
                                                     public   401  403  403  403  201  201  201  201  201  401
  PUT /groups/:id/labels                             private  401  404  404  403  200  200  200  200  200  401
                                                     public   401  403  403  403  200  200  200  200  200  401
  PUT /groups/:id/labels/:label_id                   private  401  404  404  403  200  200  200  200  200  401
                                                     public   401  403  403  403  200  200  200  200  200  401
  DELETE /groups/:id/labels                          private  401  404  404  403  204  204  204  204  204  401
                                                     public   401  403  403  403  204  204  204  204  204  401
  DELETE /groups/:id/labels/:label_id                private  401  404  404  403  204  204  204  204  204  401
                                                     public   401  403  403  403  204  204  204  204  204  401
  POST /groups/:id/labels/:label_id/subscribe        private  401  404  404  201  201  201  201  201  201  401
                                                     public   401  201  201  201  201  201  201  201  201  401
  POST /groups/:id/labels/:label_id/unsubscribe      private  401  404  404  201  201  201  201  201  201  401
                                                     public   401  201  201  201  201  201  201  201  201  401
`,
  {
    'GET /projects/:id/labels/:label_id': { at: label },
    'POST /projects/:id/labels': { input: newLabel },
    'PUT /projects/:id/labels': { input: async (s) => ({ ...(await named(s)), color: '#00FF00' }) },
    'PUT /projects/:id/labels/:label_id': { at: label, input: { color: '#00FF00' } },
    'DELETE /projects/:id/labels': { input: named },
    'DELETE /projects/:id/labels/:label_id': { at: label },
    'POST /projects/:id/labels/:label_id/subscribe': { at: label },
    'POST /projects/:id/labels/:label_id/unsubscribe': { own: subscribedBy },
    'PUT /projects/:id/labels/promote': { input: named },
    'PUT /projects/:id/labels/:label_id/promote': { at: label },
    'GET /groups/:id/labels/:label_id': { at: groupLabel },
    'POST /groups/:id/labels': { input: newLabel },
    'PUT /groups/:id/labels': { input: async (s) => ({ ...(await groupNamed(s)), color: '#00FF00' }) },
    'PUT /groups/:id/labels/:label_id': { at: groupLabel, input: { color: '#00FF00' } },
    'DELETE /groups/:id/labels': { input: groupNamed },
    'DELETE /groups/:id/labels/:label_id': { at: groupLabel },
    'POST /groups/:id/labels/:label_id/subscribe': { at: groupLabel },
    'POST /groups/:id/labels/:label_id/unsubscribe': { own: subscribedInGroupBy },
  },
)
