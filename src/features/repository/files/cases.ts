import { randomBytes } from 'node:crypto'
import { weakMemo } from '../../../lib/async/weak-memo.ts'
import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'
import { importCommits } from '../../../../test/git-builder.ts'

const readme = () => ({ file_path: 'README.md' })
const noFile = () => ({ file_path: unique('file') })

const change = (onto: { branch: string; start_branch?: string }) => ({
  ...onto,
  commit_message: 'x',
  content: unique('text'),
})
const onMaster = () => change({ branch: 'master' })
const onNewBranch = () => change({ branch: unique('branch'), start_branch: 'master' })

async function file(s: Stage) {
  const params = noFile()
  await s.make(projectPath(s, `/repository/files/${params.file_path}`), onMaster())
  return params
}

/** The branch `modules` has one submodule, `lib`. */
const submodule = weakMemo(async (s: Stage) => {
  const files = { lib: { mode: '160000', content: '1'.repeat(40) } }
  await importCommits(s.repository, [{ branch: 'modules', from: 'refs/heads/master^0', files }])
  return { submodule: 'lib' }
})

const moduleAt = (branch: string) => ({
  branch,
  commit_message: 'x',
  commit_sha: randomBytes(20).toString('hex'),
})

export const cases = casesOf(
  `
                                                                            anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/files/:file_path                     private  404  404  404  403  200  200  200  200  200  401
                                                                    public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/files/:file_path/raw                 private  404  404  404  403  200  200  200  200  200  401
                                                                    public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/files/:file_path/blame               private  404  404  404  403  200  200  200  200  200  401
                                                                    public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/files/:file_path/view                private  404  404  404  403  200  200  200  200  200  401
                                                                    public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/files/:file_path                    private  401  404  404  403  403  201  201  201  201  401
                                                                    public   401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/repository/files/:file_path (on master)        private  401  404  404  403  403  201  201  201  201  401
                                                                    public   401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/repository/files/:file_path                     private  401  404  404  403  403  200  200  200  200  401
                                                                    public   401  403  403  403  403  200  200  200  200  401
  PUT /projects/:id/repository/files/:file_path (on master)         private  401  404  404  403  403  200  200  200  200  401
                                                                    public   401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/repository/files/:file_path                  private  401  404  404  403  403  204  204  204  204  401
                                                                    public   401  403  403  403  403  204  204  204  204  401
  PUT /projects/:id/repository/submodules/:submodule                private  401  404  404  403  403  200  200  200  200  401
                                                                    public   401  403  403  403  403  200  200  200  200  401
  PUT /projects/:id/repository/submodules/:submodule (of a folder)  private  401  404  404  403  403  400  400  400  400  401
                                                                    public   401  403  403  403  403  400  400  400  400  401
`,
  {
    'GET /projects/:id/repository/files/:file_path': { at: readme, input: { ref: 'master' } },
    'GET /projects/:id/repository/files/:file_path/raw': { at: readme },
    'GET /projects/:id/repository/files/:file_path/blame': { at: readme, input: { ref: 'master' } },
    'GET /projects/:id/repository/files/:file_path/view': { at: readme, input: { ref: 'master' } },
    'POST /projects/:id/repository/files/:file_path': { at: noFile, input: onNewBranch },
    'POST /projects/:id/repository/files/:file_path (on master)': { at: noFile, input: onMaster },
    'PUT /projects/:id/repository/files/:file_path': { at: readme, input: onNewBranch },
    'PUT /projects/:id/repository/files/:file_path (on master)': { at: readme, input: onMaster },
    'DELETE /projects/:id/repository/files/:file_path': { at: file, input: { branch: 'master', commit_message: 'x' } },
    'PUT /projects/:id/repository/submodules/:submodule': { at: submodule, input: () => moduleAt('modules') },
    // Callers with permission learn that it is not a submodule.
    'PUT /projects/:id/repository/submodules/:submodule (of a folder)': {
      at: () => ({ submodule: 'src' }),
      input: () => moduleAt('master'),
    },
  },
)
