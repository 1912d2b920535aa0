import { casesOf, projectPath, unique } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                                                 anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/tags/:tag_name/signature  private  404  404  404  403  404  404  404  404  404  401
                                                         public   404  404  404  404  404  404  404  404  404  401
  GET /projects/:id/repository/commits/:sha/signature    private  404  404  404  403  404  404  404  404  404  401
                                                         public   404  404  404  404  404  404  404  404  404  401
`,
  {
    'GET /projects/:id/repository/tags/:tag_name/signature': {
      async at(s) {
        const { name } = await s.make(projectPath(s, '/repository/tags'), { tag_name: unique('v'), ref: 'master' })
        return { tag_name: name }
      },
    },
    'GET /projects/:id/repository/commits/:sha/signature': { at: () => ({ sha: 'master' }) },
  },
)
