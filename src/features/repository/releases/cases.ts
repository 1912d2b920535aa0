import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newRelease = () => ({ tag_name: unique('v'), ref: 'master' })
const newLink = () => ({ name: unique('link'), url: `https://${unique('files')}.example.org` })

async function release(s: Stage) {
  const links = [{ ...newLink(), direct_asset_path: '/bin/x' }]
  const { tag_name, assets } = await s.make(projectPath(s, '/releases'), { ...newRelease(), assets: { links } })
  return { tag_name, link_id: assets.links[0].id }
}

export const cases = casesOf(
  `
                                                                         anon strg extn guest rept devl mast ownr admn blkd
  GET /groups/:id/releases                                       private  404  404  404  200  200  200  200  200  200  401
                                                                 public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/releases                                     private  404  404  404  403  200  200  200  200  200  401
                                                                 public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/releases/:tag_name                           private  404  404  404  403  200  200  200  200  200  401
                                                                 public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/releases                                    private  401  404  404  403  403  201  201  201  201  401
                                                                 public   401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/releases/:tag_name                           private  401  404  404  403  403  200  200  200  200  401
                                                                 public   401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/releases/:tag_name                        private  401  404  404  403  403  200  200  200  200  401
                                                                 public   401  403  403  403  403  200  200  200  200  401
  GET /projects/:id/releases/permalink/latest                    private  404  404  404  403  302  302  302  302  302  401
                                                                 public   302  302  302  302  302  302  302  302  302  401
  GET /projects/:id/releases/permalink/latest/*                  private  404  404  404  403  302  302  302  302  302  401
                                                                 public   302  302  302  302  302  302  302  302  302  401
  GET /projects/:id/releases/:tag_name/downloads/*               private  404  404  404  403  302  302  302  302  302  401
                                                                 public   302  302  302  302  302  302  302  302  302  401
  GET /projects/:id/releases/:tag_name/assets/links              private  404  404  404  403  200  200  200  200  200  401
                                                                 public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/releases/:tag_name/assets/links/:link_id     private  404  404  404  403  200  200  200  200  200  401
                                                                 public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/releases/:tag_name/assets/links             private  401  404  404  403  403  201  201  201  201  401
                                                                 public   401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/releases/:tag_name/assets/links/:link_id     private  401  404  404  403  403  200  200  200  200  401
                                                                 public   401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/releases/:tag_name/assets/links/:link_id  private  401  404  404  403  403  200  200  200  200  401
                                                                 public   401  403  403  403  403  200  200  200  200  401
`,
  {
    'GET /projects/:id/releases': { at: release },
    'GET /projects/:id/releases/:tag_name': { at: release },
    'POST /projects/:id/releases': { input: newRelease },
    'PUT /projects/:id/releases/:tag_name': { at: release, input: { name: 'x' } },
    'DELETE /projects/:id/releases/:tag_name': { at: release },
    'GET /projects/:id/releases/permalink/latest': { at: release },
    'GET /projects/:id/releases/permalink/latest/*': {
      at: async (s) => ({ ...(await release(s)), '*': 'assets/links' }),
    },
    'GET /projects/:id/releases/:tag_name/downloads/*': { at: async (s) => ({ ...(await release(s)), '*': 'bin/x' }) },
    'GET /projects/:id/releases/:tag_name/assets/links': { at: release },
    'GET /projects/:id/releases/:tag_name/assets/links/:link_id': { at: release },
    'POST /projects/:id/releases/:tag_name/assets/links': { at: release, input: newLink },
    'PUT /projects/:id/releases/:tag_name/assets/links/:link_id': {
      at: release,
      input: () => ({ name: unique('link') }),
    },
    'DELETE /projects/:id/releases/:tag_name/assets/links/:link_id': { at: release },
  },
)
