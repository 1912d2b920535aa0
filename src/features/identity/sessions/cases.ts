import { weakMemo } from '../../../lib/async/weak-memo.ts'
import { casesOf, unique, type Stage } from '../../../../test/cases.ts'

const password = 'correct horse'
const someone = weakMemo(({ forge }: Stage) => forge.user({ username: unique('someone'), password }))

export const cases = casesOf(
  `
                anon strg admn blkd
  POST /session  201  201  201  401
`,
  {
    'POST /session': { input: async (s) => ({ login: (await someone(s)).username, password }) },
  },
)
