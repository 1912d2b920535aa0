import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

async function newBranch(s: Stage) {
  const branch = unique('branch')
  await s.make(projectPath(s, '/repository/branches'), { branch, ref: 'master' })
  return changeAt(s, '/repository', `refs/heads/${branch}`)
}

async function newPage(s: Stage) {
  await s.make(projectPath(s, '/wikis'), { title: unique('page'), content: 'x' })
  return changeAt(s, '/wikis', 'refs/heads/master')
}

async function changeAt(s: Stage, below: string, ref: string) {
  const { body } = await s.owner.get(projectPath(s, `${below}/ref_changes`), { ref })
  return { change_id: body[0].id as number }
}

export const cases = casesOf(
  `
                                                                      anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/ref_changes                    private  404  404  404  403  200  200  200  200  200  401
                                                              public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/ref_changes/:change_id/undo   private  401  404  404  403  403  201  201  201  201  401
                                                              public   401  403  403  403  403  201  201  201  201  401
  DELETE /projects/:id/repository/ref_changes/:change_id      private  401  404  404  403  403  403  403  204  204  401
                                                              public   401  403  403  403  403  403  403  204  204  401
  GET /projects/:id/wikis/ref_changes                         private  404  404  404  200  200  200  200  200  200  401
                                                              public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/wikis/ref_changes/:change_id/undo        private  401  404  404  403  403  201  201  201  201  401
                                                              public   401  403  403  403  403  201  201  201  201  401
`,
  {
    'POST /projects/:id/repository/ref_changes/:change_id/undo': { at: newBranch },
    'DELETE /projects/:id/repository/ref_changes/:change_id': { at: newBranch },
    'POST /projects/:id/wikis/ref_changes/:change_id/undo': { at: newPage },
  },
)
