import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const tip = () => ({ sha: 'master' })

const newCommit = (onto: { branch: string; start_branch?: string }) => ({
  ...onto,
  commit_message: 'x',
  actions: [{ action: 'create', file_path: unique('file'), content: 'x' }],
})
const onNewBranch = () => newCommit({ branch: unique('branch'), start_branch: 'master' })

/** On a separate branch. */
const commit = async (s: Stage) => ({ sha: (await s.make(projectPath(s, '/repository/commits'), onNewBranch())).id })

/** A branch that does not have the commit. */
async function branch(s: Stage) {
  const input = { branch: unique('branch'), ref: 'master' }
  await s.make(projectPath(s, '/repository/branches'), input)
  return { branch: input.branch }
}

export const cases = casesOf(
  `
                                                                    anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/commits                      private  404  404  404  403  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/commits                     private  401  404  404  403  403  201  201  201  201  401
                                                            public   401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/repository/commits (on master)         private  401  404  404  403  403  201  201  201  201  401
                                                            public   401  403  403  403  403  201  201  201  201  401
  GET /projects/:id/repository/commits/:sha                 private  404  404  404  403  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/diff            private  404  404  404  403  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/patch           private  404  404  404  403  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/refs            private  404  404  404  403  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/sequence        private  404  404  404  403  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/commits/:sha/cherry_pick    private  401  404  404  403  403  201  201  201  201  401
                                                            public   401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/repository/commits/:sha/revert         private  401  404  404  403  403  201  201  201  201  401
                                                            public   401  403  403  403  403  201  201  201  201  401
`,
  {
    'POST /projects/:id/repository/commits': { input: onNewBranch },
    'POST /projects/:id/repository/commits (on master)': { input: () => newCommit({ branch: 'master' }) },
    'GET /projects/:id/repository/commits/:sha': { at: tip },
    'GET /projects/:id/repository/commits/:sha/diff': { at: tip },
    'GET /projects/:id/repository/commits/:sha/patch': { at: tip },
    'GET /projects/:id/repository/commits/:sha/refs': { at: tip },
    'GET /projects/:id/repository/commits/:sha/sequence': { at: tip },
    'POST /projects/:id/repository/commits/:sha/cherry_pick': { at: commit, input: branch },
    'POST /projects/:id/repository/commits/:sha/revert': { at: tip, input: { branch: 'master' } },
  },
)
