import { casesOf, groupPath, projectPath, type Ask, type Stage } from '../../../../test/cases.ts'

const newHook = { url: 'https://hooks.example.org/' }

const ofProject = async (s: Stage) => (await s.make(projectPath(s, '/hooks'), newHook)).id
const ofGroup = async (s: Stage) => (await s.make(groupPath(s, '/hooks'), newHook)).id
// The server may always reach its own URL.
const ofInstance = async (s: Stage) => (await s.make('/hooks', { url: s.forge.url }, s.cast.people.administrator)).id

/** An attempt that went to another URL than the hook has now: a resend is refused and sends nothing. */
async function attemptOn(s: Stage, hook_id: number): Promise<number> {
  const row = {
    hook_id,
    message_id: null,
    trigger: 'push_events',
    url: 'https://elsewhere.example.org/',
    request_headers: '{}',
    request_data: '{}',
    response_status: 200,
    response_headers: '{}',
    response_body: '',
    execution_duration: 0.1,
    error: null,
    created_at: new Date().toISOString(),
  }
  return (await s.forge.app.db.insertInto('hook_attempts').values(row).returning('id').executeTakeFirstOrThrow()).id
}

/** The same requests for every scope. No scope has feature flags, so a test delivery finds no sample. */
const asksAt = (path: string, make: (s: Stage) => Promise<number>): Record<string, Ask> => {
  const hook = async (s: Stage) => ({ hook_id: await make(s), trigger: 'feature_flag_events' })
  const attempt = async (s: Stage) => {
    const hook_id = await make(s)
    return { hook_id, hook_log_id: await attemptOn(s, hook_id) }
  }
  return {
    [`GET ${path}/:hook_id/events`]: { at: hook },
    [`GET ${path}/:hook_id/events/:hook_log_id`]: { at: attempt },
    [`POST ${path}/:hook_id/events/:hook_log_id/resend`]: { at: attempt },
    [`POST ${path}/:hook_id/replay`]: { at: hook, input: { since: '2020-01-01' } },
    [path === '/hooks' ? 'POST /hooks/:hook_id' : `POST ${path}/:hook_id/test/:trigger`]: { at: hook },
  }
}

export const cases = casesOf(
  `
                                                                        anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/hooks/:hook_id/events                      private  401  404  404  403  403  403  200  200  200  401
                                                               public   401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/hooks/:hook_id/events/:hook_log_id         private  401  404  404  403  403  403  200  200  200  401
                                                               public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/hooks/:hook_id/events/:hook_log_id/resend private  401  404  404  403  403  403  422  422  422  401
                                                               public   401  403  403  403  403  403  422  422  422  401
  POST /projects/:id/hooks/:hook_id/replay                     private  401  404  404  403  403  403  202  202  202  401
                                                               public   401  403  403  403  403  403  202  202  202  401
  POST /projects/:id/hooks/:hook_id/test/:trigger              private  401  404  404  403  403  403  422  422  422  401
                                                               public   401  403  403  403  403  403  422  422  422  401
  GET /groups/:id/hooks/:hook_id/events                        private  401  404  404  403  403  403  403  200  200  401
                                                               public   401  403  403  403  403  403  403  200  200  401
  GET /groups/:id/hooks/:hook_id/events/:hook_log_id           private  401  404  404  403  403  403  403  200  200  401
                                                               public   401  403  403  403  403  403  403  200  200  401
  POST /groups/:id/hooks/:hook_id/events/:hook_log_id/resend   private  401  404  404  403  403  403  403  422  422  401
                                                               public   401  403  403  403  403  403  403  422  422  401
  POST /groups/:id/hooks/:hook_id/replay                       private  401  404  404  403  403  403  403  202  202  401
                                                               public   401  403  403  403  403  403  403  202  202  401
  POST /groups/:id/hooks/:hook_id/test/:trigger                private  401  404  404  403  403  403  403  422  422  401
                                                               public   401  403  403  403  403  403  403  422  422  401
  GET /hooks/:hook_id/events                                            401  403  403  403  403  403  403  403  200  401
  GET /hooks/:hook_id/events/:hook_log_id                               401  403  403  403  403  403  403  403  200  401
  POST /hooks/:hook_id/events/:hook_log_id/resend                       401  403  403  403  403  403  403  403  422  401
  POST /hooks/:hook_id/replay                                           401  403  403  403  403  403  403  403  202  401
  POST /hooks/:hook_id                                                  401  403  403  403  403  403  403  403  201  401
`,
  {
    ...asksAt('/projects/:id/hooks', ofProject),
    ...asksAt('/groups/:id/hooks', ofGroup),
    ...asksAt('/hooks', ofInstance),
  },
)
