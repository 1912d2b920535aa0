import { casesOf, unique, type Stage } from '../../../../test/cases.ts'

const newcomer = async (s: Stage) => ({ id: (await s.newcomer()).id })

const pending = async (s: Stage) => {
  const { id } = await s.newcomer()
  const { db } = s.forge.app
  await db.updateTable('users').set({ state: 'blocked_pending_approval' }).where('id', '=', id).execute()
  return { id }
}

const newUser = () => {
  const username = unique('new')
  return { email: `${username}@example.com`, username, name: 'New', reset_password: true }
}

export const cases = casesOf(
  `
                                         anon strg admn blkd
  GET /users                              403  200  200  401
  GET /users (by name)                    200  200  200  401
  GET /users/:id                          200  200  200  401
  GET /user                               401  200  200  401
  PUT /user                               401  200  200  401
  POST /users                             401  403  201  401
  PUT /users/:id                          401  403  200  401
  DELETE /users/:id                       401  403  204  401
  POST /users/:id/block                   401  403  201  401
  POST /users/:id/unblock                 401  403  201  401
  POST /users/:id/deactivate              401  403  201  401
  POST /users/:id/activate                401  403  201  401
  POST /users/:id/ban                     401  403  201  401
  POST /users/:id/unban                   401  403  201  401
  POST /users/:id/approve                 401  403  201  401
  POST /users/:id/reject                  401  403  200  401
  DELETE /users/:id/identities/:provider  401  403  204  401
`,
  {
    'GET /users': { scope: 'read_user' },
    'GET /users (by name)': { input: (s) => ({ username: s.owner.username }) },
    'GET /users/:id': { at: newcomer, scope: 'read_user' },
    'GET /user': { scope: 'read_user' },
    'PUT /user': { input: { bio: 'Changed' } },
    'POST /users': { input: newUser },
    'PUT /users/:id': { at: newcomer, input: { name: 'Changed' } },
    'DELETE /users/:id': { at: newcomer },
    'POST /users/:id/block': { at: newcomer },
    'POST /users/:id/unblock': { at: newcomer },
    'POST /users/:id/deactivate': { at: newcomer },
    'POST /users/:id/activate': { at: newcomer },
    'POST /users/:id/ban': { at: newcomer },
    'POST /users/:id/unban': {
      async at(s) {
        const { id } = await newcomer(s)
        await s.forge.administrator.post(`/users/${id}/ban`)
        return { id }
      },
    },
    'POST /users/:id/approve': { at: pending },
    'POST /users/:id/reject': { at: pending },
    'DELETE /users/:id/identities/:provider': {
      async at(s) {
        const { id } = await newcomer(s)
        const identity = { provider: 'github', extern_uid: unique('uid') }
        await s.forge.administrator.put(`/users/${id}`, identity)
        return { id, provider: identity.provider }
      },
    },
  },
)
