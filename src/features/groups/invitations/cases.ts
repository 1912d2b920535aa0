import { casesOf, groupPath, unique, type Stage } from '../../../../test/cases.ts'

const newInvitation = () => ({ email: `${unique('guest')}@example.org`, access_level: 10 })

async function invitation(s: Stage) {
  const input = newInvitation()
  await s.make(groupPath(s, '/invitations'), input)
  return { email: input.email }
}

export const cases = casesOf(
  `
                                                 anon strg extn guest rept devl mast ownr admn blkd
  GET /groups/:id/invitations            private  401  404  404  403  403  403  403  200  200  401
                                         public   401  403  403  403  403  403  403  200  200  401
  POST /groups/:id/invitations           private  401  404  404  403  403  403  403  201  201  401
                                         public   401  403  403  403  403  403  403  201  201  401
  PUT /groups/:id/invitations/:email     private  401  404  404  403  403  403  403  200  200  401
                                         public   401  403  403  403  403  403  403  200  200  401
  DELETE /groups/:id/invitations/:email  private  401  404  404  403  403  403  403  204  204  401
                                         public   401  403  403  403  403  403  403  204  204  401
`,
  {
    'GET /groups/:id/invitations': { scope: 'secret' },
    'POST /groups/:id/invitations': { input: newInvitation },
    'PUT /groups/:id/invitations/:email': { at: invitation, input: { access_level: 20 } },
    'DELETE /groups/:id/invitations/:email': { at: invitation },
  },
)
