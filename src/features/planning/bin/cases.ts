import { casesOf, groupPath, inBin, projectPath, unique, type Stage } from '../../../../test/cases.ts'

/** A deleted label: Reporters delete and restore labels. */
const deletedLabelAt = (path: typeof projectPath) => async (s: Stage) => {
  const { id } = await s.make(path(s, '/labels'), { name: unique('label'), color: 'red' })
  await inBin(s, path(s, `/labels/${id}`))
  const { body } = await s.owner.get(path(s, '/deleted_items'))
  return { deleted_item_id: body[0].id as number }
}
const [inProject, inGroup] = [deletedLabelAt(projectPath), deletedLabelAt(groupPath)]

export const cases = casesOf(
  `
                                                                      anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/deleted_items                             private  401  404  404  403  200  200  200  200  200  401
                                                              public   401  403  403  403  200  200  200  200  200  401
  GET /groups/:id/deleted_items                               private  401  404  404  403  200  200  200  200  200  401
                                                              public   401  403  403  403  200  200  200  200  200  401
  POST /projects/:id/deleted_items/:deleted_item_id/restore   private  401  404  404  403  201  201  201  201  201  401
                                                              public   401  403  403  403  201  201  201  201  201  401
  POST /groups/:id/deleted_items/:deleted_item_id/restore     private  401  404  404  403  201  201  201  201  201  401
                                                              public   401  403  403  403  201  201  201  201  201  401
  DELETE /projects/:id/deleted_items/:deleted_item_id         private  401  404  404  403  204  204  204  204  204  401
                                                              public   401  403  403  403  204  204  204  204  204  401
  DELETE /groups/:id/deleted_items/:deleted_item_id           private  401  404  404  403  204  204  204  204  204  401
                                                              public   401  403  403  403  204  204  204  204  204  401
`,
  {
    'POST /projects/:id/deleted_items/:deleted_item_id/restore': { at: inProject },
    'POST /groups/:id/deleted_items/:deleted_item_id/restore': { at: inGroup },
    'DELETE /projects/:id/deleted_items/:deleted_item_id': { at: inProject },
    'DELETE /groups/:id/deleted_items/:deleted_item_id': { at: inGroup },
  },
)
