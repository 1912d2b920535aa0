import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'
import { aFile } from '../../../../test/samples.ts'

const newPage = () => ({ title: unique('page'), content: 'x' })

async function page(s: Stage) {
  const { slug } = await s.make(projectPath(s, '/wikis'), newPage())
  return { slug }
}

export const cases = casesOf(
  `
                                                anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/wikis               private  404  404  404  200  200  200  200  200  200  401
                                        public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/wikis/:slug         private  404  404  404  200  200  200  200  200  200  401
                                        public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/wikis/:slug/history private  404  404  404  200  200  200  200  200  200  401
                                        public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/wikis              private  401  404  404  403  403  201  201  201  201  401
                                        public   401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/wikis/:slug         private  401  404  404  403  403  200  200  200  200  401
                                        public   401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/wikis/:slug      private  401  404  404  403  403  403  204  204  204  401
                                        public   401  403  403  403  403  403  204  204  204  401
  POST /projects/:id/wikis/attachments  private  401  404  404  403  403  201  201  201  201  401
                                        public   401  403  403  403  403  201  201  201  201  401
`,
  {
    'GET /projects/:id/wikis/:slug': { at: page },
    'GET /projects/:id/wikis/:slug/history': { at: page },
    'POST /projects/:id/wikis': { input: newPage },
    'PUT /projects/:id/wikis/:slug': { at: page, input: { content: 'changed' } },
    'DELETE /projects/:id/wikis/:slug': { at: page },
    'POST /projects/:id/wikis/attachments': { input: aFile },
  },
)
