import { casesOf, unique, type Stage } from '../../../../test/cases.ts'

const newGroup = (more = {}) => ({ name: unique('group'), path: unique('group'), ...more })

const subgroup = async (s: Stage) => ({ id: (await s.make('/groups', newGroup({ parent_id: s.group.id }))).id })

async function groupInBin(s: Stage) {
  const { administrator: root } = s.forge
  const { id } = await subgroup(s)
  await root.put('/application/settings', { deletion_adjourned_period: 7 })
  await root.delete(`/groups/${id}`)
  await root.put('/application/settings', { deletion_adjourned_period: 0 })
  return { id }
}

export const cases = casesOf(
  `
                                                 anon strg extn guest rept devl mast ownr admn blkd
  GET /groups                            private  200  200  200  200  200  200  200  200  200  401
                                         public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id                        private  404  404  404  200  200  200  200  200  200  401
                                         public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/projects               private  404  404  404  200  200  200  200  200  200  401
                                         public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/projects/shared        private  404  404  404  200  200  200  200  200  200  401
                                         public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/subgroups              private  404  404  404  200  200  200  200  200  200  401
                                         public   200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/descendant_groups      private  404  404  404  200  200  200  200  200  200  401
                                         public   200  200  200  200  200  200  200  200  200  401
  POST /groups                           private  401  201  403  201  201  201  201  201  201  401
                                         public   401  201  403  201  201  201  201  201  201  401
  POST /groups (a subgroup)              private  401  404  404  403  403  403  403  201  201  401
                                         public   401  403  403  403  403  403  403  201  201  401
  PUT /groups/:id                        private  401  404  404  403  403  403  403  200  200  401
                                         public   401  403  403  403  403  403  403  200  200  401
  DELETE /groups/:id                     private  401  404  404  403  403  403  403  204  204  401
                                         public   401  404  404  403  403  403  403  204  204  401
  POST /groups/:id/restore               private  401  404  404  404  404  404  404  201  201  401
                                         public   401  404  404  404  404  404  404  201  201  401
  POST /groups/:id/restore (active)      private  401  404  404  403  403  403  403  400  400  401
                                         public   401  403  403  403  403  403  403  400  400  401
  POST /groups/:id/projects/:project_id  private  401  403  403  403  403  403  403  403  201  401
                                         public   401  403  403  403  403  403  403  403  201  401
`,
  {
    'POST /groups': { input: () => newGroup() },
    'POST /groups (a subgroup)': { input: (s) => newGroup({ parent_id: s.group.id }) },
    'PUT /groups/:id': { input: { description: 'changed' } },
    'DELETE /groups/:id': { at: subgroup },
    'POST /groups/:id/restore': { at: groupInBin, input: () => ({ path: unique('back'), name: unique('Back') }) },
    'POST /groups/:id/projects/:project_id': {
      at: async (s) => ({ ...(await subgroup(s)), project_id: (await s.newProject()).id }),
    },
  },
)
