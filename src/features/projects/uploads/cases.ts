import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'
import { aFile } from '../../../../test/samples.ts'

async function upload(s: Stage) {
  const { url } = await s.make(projectPath(s, '/uploads'), aFile())
  const [, secret, filename] = /\/uploads\/(\w+)\/(.+)$/.exec(url)!
  const newest = s.forge.app.db.selectFrom('uploads').select('id').orderBy('id', 'desc')
  return { upload_id: (await newest.executeTakeFirstOrThrow()).id, secret: secret!, filename: filename! }
}

export const cases = casesOf(
  `
                                                          anon strg extn guest rept devl mast ownr admn blkd
  POST /projects/:id/uploads                      private  401  404  404  201  201  201  201  201  201  401
                                                  public   401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/uploads                       private  401  404  404  403  403  403  200  200  200  401
                                                  public   401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/uploads/:secret/:filename     private  404  404  404  200  200  200  200  200  200  401
                                                  public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/uploads/:upload_id            private  401  404  404  403  403  403  200  200  200  401
                                                  public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/uploads/:upload_id         private  401  404  404  403  403  403  204  204  204  401
                                                  public   401  403  403  403  403  403  204  204  204  401
  DELETE /projects/:id/uploads/:secret/:filename  private  401  404  404  403  403  403  204  204  204  401
                                                  public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'POST /projects/:id/uploads': { input: aFile },
    'GET /projects/:id/uploads/:secret/:filename': { at: upload },
    'GET /projects/:id/uploads/:upload_id': { at: upload },
    'DELETE /projects/:id/uploads/:upload_id': { at: upload },
    'DELETE /projects/:id/uploads/:secret/:filename': { at: upload },
  },
)
