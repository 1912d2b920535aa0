import { parseSshPublicKey } from '../../../lib/crypto/ssh-key.ts'
import { casesOf, type Stage } from '../../../../test/cases.ts'
import { sshKey } from '../../../../test/samples.ts'

const newKey = () => ({ title: 'x', key: sshKey() })

const somebody = (s: Stage) => ({ id: s.owner.id })
const mine = async (s: Stage, { id }: { id: number }) => ({
  key_id: (await s.make(`/users/${id}/keys`, newKey(), s.forge.administrator)).id,
})
const theirs = async (s: Stage) => ({ ...somebody(s), ...(await mine(s, s.owner)) })

export const cases = casesOf(
  `
                                 anon strg admn blkd
  GET /user/keys                  401  200  200  401
  GET /user/keys/:key_id          401  200  200  401
  POST /user/keys                 401  201  201  401
  DELETE /user/keys/:key_id       401  204  204  401
  GET /users/:id/keys             401  403  200  401
  GET /users/:id/keys/:key_id     401  403  200  401
  POST /users/:id/keys            401  403  201  401
  DELETE /users/:id/keys/:key_id  401  403  204  401
  GET /keys/:id                   401  403  200  401
  GET /keys                       401  403  200  401
`,
  {
    'GET /user/keys': { scope: 'read_user' },
    'GET /user/keys/:key_id': { own: mine, scope: 'read_user' },
    'POST /user/keys': { input: newKey },
    'DELETE /user/keys/:key_id': { own: mine },
    'GET /users/:id/keys': { at: somebody, scope: 'read_user' },
    'GET /users/:id/keys/:key_id': { at: theirs, scope: 'read_user' },
    'POST /users/:id/keys': { at: somebody, input: newKey },
    'DELETE /users/:id/keys/:key_id': { at: theirs },
    'GET /keys/:id': { at: async (s) => ({ id: (await mine(s, s.owner)).key_id }) },
    'GET /keys': {
      async input(s) {
        const key = newKey()
        await s.make('/user/keys', key)
        return { fingerprint: parseSshPublicKey(key.key)!.sha256 }
      },
    },
  },
)
