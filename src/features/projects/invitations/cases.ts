import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newInvitation = () => ({ email: `${unique('guest')}@example.org`, access_level: 10 })

async function invitation(s: Stage) {
  const input = newInvitation()
  await s.make(projectPath(s, '/invitations'), input)
  return { email: input.email }
}

export const cases = casesOf(
  `
                                                   anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/invitations            private  401  404  404  403  403  403  200  200  200  401
                                           public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/invitations           private  401  404  404  403  403  403  201  201  201  401
                                           public   401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/invitations/:email     private  401  404  404  403  403  403  200  200  200  401
                                           public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/invitations/:email  private  401  404  404  403  403  403  204  204  204  401
                                           public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'GET /projects/:id/invitations': { scope: 'secret' },
    'POST /projects/:id/invitations': { input: newInvitation },
    'PUT /projects/:id/invitations/:email': { at: invitation, input: { access_level: 20 } },
    'DELETE /projects/:id/invitations/:email': { at: invitation },
  },
)
