import { casesOf } from '../../../../test/cases.ts'

/** `README.md` of the stage's project. */
const blob = () => ({ sha: '3333f9daa49e5fe99051dc84003eb681afb529e1' })

export const cases = casesOf(
  `
                                                        anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/tree             private  404  404  404  403  200  200  200  200  200  401
                                                public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/paths            private  404  404  404  403  200  200  200  200  200  401
                                                public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/tree_commits     private  404  404  404  403  200  200  200  200  200  401
                                                public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/blobs/:sha       private  404  404  404  403  200  200  200  200  200  401
                                                public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/blobs/:sha/raw   private  404  404  404  403  200  200  200  200  200  401
                                                public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/archive          private  404  404  404  403  200  200  200  200  200  401
                                                public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/archive.:format  private  404  404  404  403  200  200  200  200  200  401
                                                public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/compare          private  404  404  404  403  200  200  200  200  200  401
                                                public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/contributors     private  404  404  404  403  200  200  200  200  200  401
                                                public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/merge_base       private  404  404  404  403  200  200  200  200  200  401
                                                public   200  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/repository/blobs/:sha': { at: blob },
    'GET /projects/:id/repository/blobs/:sha/raw': { at: blob },
    'GET /projects/:id/repository/archive.:format': { at: () => ({ format: 'zip' }) },
    'GET /projects/:id/repository/compare': { input: { from: 'master', to: 'master' } },
    'GET /projects/:id/repository/merge_base': { input: { refs: ['master', 'HEAD'] } },
  },
)
