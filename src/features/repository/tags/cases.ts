import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newTag = () => ({ tag_name: unique('v'), ref: 'master' })

async function tag(s: Stage) {
  const { name } = await s.make(projectPath(s, '/repository/tags'), newTag())
  return { tag_name: name }
}

async function released(s: Stage) {
  const { tag_name } = await s.make(projectPath(s, '/releases'), newTag())
  return { tag_name }
}

export const cases = casesOf(
  `
                                                                anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/tags                     private  404  404  404  403  200  200  200  200  200  401
                                                        public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/tags/:tag_name           private  404  404  404  403  200  200  200  200  200  401
                                                        public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/tags                    private  401  404  404  403  403  201  201  201  201  401
                                                        public   401  403  403  403  403  201  201  201  201  401
  DELETE /projects/:id/repository/tags/:tag_name        private  401  404  404  403  403  400  204  204  204  401
                                                        public   401  403  403  403  403  400  204  204  204  401
  POST /projects/:id/repository/tags/:tag_name/release  private  401  404  404  403  403  201  201  201  201  401
                                                        public   401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/repository/tags/:tag_name/release   private  401  404  404  403  403  200  200  200  200  401
                                                        public   401  403  403  403  403  200  200  200  200  401
`,
  {
    'GET /projects/:id/repository/tags/:tag_name': { at: tag },
    'POST /projects/:id/repository/tags': { input: newTag },
    'DELETE /projects/:id/repository/tags/:tag_name': { at: tag },
    'POST /projects/:id/repository/tags/:tag_name/release': { at: tag, input: { description: 'x' } },
    'PUT /projects/:id/repository/tags/:tag_name/release': { at: released, input: { description: 'x' } },
  },
)
