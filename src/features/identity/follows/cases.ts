import { casesOf, type Stage } from '../../../../test/cases.ts'

const newcomer = async (s: Stage) => ({ id: (await s.newcomer()).id })

export const cases = casesOf(
  `
                            anon strg admn blkd
  POST /users/:id/follow     401  201  201  401
  POST /users/:id/unfollow   401  201  201  401
  GET /users/:id/followers   401  200  200  401
  GET /users/:id/following   401  200  200  401
`,
  {
    'POST /users/:id/follow': { at: newcomer },
    'POST /users/:id/unfollow': {
      async own(s, who) {
        const { id } = await newcomer(s)
        const at = { followee_id: id, follower_id: who.id, created_at: '2020-01-01T00:00:00.000Z' }
        await s.forge.app.db.insertInto('user_follows').values(at).execute()
        return { id }
      },
    },
    'GET /users/:id/followers': { at: newcomer, scope: 'read_user' },
    'GET /users/:id/following': { at: newcomer, scope: 'read_user' },
  },
)
