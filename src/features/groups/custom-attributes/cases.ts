import { casesOf, groupPath, projectPath, type Stage } from '../../../../test/cases.ts'

const key = 'place'
const value = { value: 'north' }

const ofUser = (s: Stage) => ({ id: s.owner.id, key })
const userHas = async (s: Stage) => {
  await s.forge.administrator.put(`/users/${s.owner.id}/custom_attributes/${key}`, value)
  return ofUser(s)
}
const groupHas = async (s: Stage) => {
  await s.forge.administrator.put(groupPath(s, `/custom_attributes/${key}`), value)
  return { key }
}
const projectHas = async (s: Stage) => {
  await s.forge.administrator.put(projectPath(s, `/custom_attributes/${key}`), value)
  return { key }
}

export const cases = casesOf(
  `
                                                    anon strg extn guest rept devl mast ownr admn blkd
  GET /users/:id/custom_attributes                    401  403  403  403  403  403  403  403  200  401
  GET /users/:id/custom_attributes/:key               401  403  403  403  403  403  403  403  200  401
  PUT /users/:id/custom_attributes/:key               401  403  403  403  403  403  403  403  200  401
  DELETE /users/:id/custom_attributes/:key            401  403  403  403  403  403  403  403  204  401
  GET /groups/:id/custom_attributes          private  401  403  403  403  403  403  403  403  200  401
                                              public  401  403  403  403  403  403  403  403  200  401
  GET /groups/:id/custom_attributes/:key     private  401  403  403  403  403  403  403  403  200  401
                                              public  401  403  403  403  403  403  403  403  200  401
  PUT /groups/:id/custom_attributes/:key     private  401  403  403  403  403  403  403  403  200  401
                                              public  401  403  403  403  403  403  403  403  200  401
  DELETE /groups/:id/custom_attributes/:key  private  401  403  403  403  403  403  403  403  204  401
                                              public  401  403  403  403  403  403  403  403  204  401
  GET /projects/:id/custom_attributes        private  401  403  403  403  403  403  403  403  200  401
                                              public  401  403  403  403  403  403  403  403  200  401
  GET /projects/:id/custom_attributes/:key   private  401  403  403  403  403  403  403  403  200  401
                                              public  401  403  403  403  403  403  403  403  200  401
  PUT /projects/:id/custom_attributes/:key   private  401  403  403  403  403  403  403  403  200  401
                                              public  401  403  403  403  403  403  403  403  200  401
  DELETE /projects/:id/custom_attributes/:key  private  401  403  403  403  403  403  403  403  204  401
                                              public  401  403  403  403  403  403  403  403  204  401
`,
  {
    'GET /users/:id/custom_attributes': { at: ofUser },
    'GET /users/:id/custom_attributes/:key': { at: userHas },
    'PUT /users/:id/custom_attributes/:key': { at: ofUser, input: value },
    'DELETE /users/:id/custom_attributes/:key': { at: userHas },
    'GET /groups/:id/custom_attributes/:key': { at: groupHas },
    'PUT /groups/:id/custom_attributes/:key': { at: () => ({ key }), input: value },
    'DELETE /groups/:id/custom_attributes/:key': { at: groupHas },
    'GET /projects/:id/custom_attributes/:key': { at: projectHas },
    'PUT /projects/:id/custom_attributes/:key': { at: () => ({ key }), input: value },
    'DELETE /projects/:id/custom_attributes/:key': { at: projectHas },
  },
)
