import { casesOf, unique, type Stage } from '../../../../test/cases.ts'

const newEmail = () => ({ email: `${unique('more')}@example.com` })

const somebody = (s: Stage) => ({ id: s.owner.id })
const mine = async (s: Stage, { id }: { id: number }) => ({
  email_id: (await s.make(`/users/${id}/emails`, newEmail(), s.forge.administrator)).id,
})
const theirs = async (s: Stage) => ({ ...somebody(s), ...(await mine(s, s.owner)) })

export const cases = casesOf(
  `
                                     anon strg admn blkd
  GET /user/emails                    401  200  200  401
  GET /user/emails/:email_id          401  200  200  401
  POST /user/emails                   401  201  201  401
  DELETE /user/emails/:email_id       401  204  204  401
  GET /users/:id/emails               401  403  200  401
  POST /users/:id/emails              401  403  201  401
  DELETE /users/:id/emails/:email_id  401  403  204  401
`,
  {
    'GET /user/emails': { scope: 'read_user' },
    'GET /user/emails/:email_id': { own: mine, scope: 'read_user' },
    'POST /user/emails': { input: newEmail },
    'DELETE /user/emails/:email_id': { own: mine },
    'GET /users/:id/emails': { at: somebody, scope: 'read_user' },
    'POST /users/:id/emails': { at: somebody, input: newEmail },
    'DELETE /users/:id/emails/:email_id': { at: theirs },
  },
)
